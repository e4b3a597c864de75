// argv in, exit status out: everything between is options -> Request -> commands.

#include "cli/cost_options.hpp"
#include "cli/options.hpp"
#include "commands/output.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <variant>
#include <vector>

namespace {

int say_and_leave(const tracso::Leave& leave) {
  std::fputs(leave.err.c_str(), stderr);
  const auto done = tracso::print_out(leave.out);
  return done ? leave.status : tracso::fail(done.error());
}

void say_out_of_memory() {
  std::fputs(
      "tracso: out of memory\n"
      "hint: 'ulimit -v' and the container's memory limit say how much there is\n",
      stderr);
}

// Memory may also run out where nothing can be caught: in a destructor of a document, in a thread.
[[noreturn]] void at_terminate() {
  try {
    if (const auto problem = std::current_exception()) {
      std::rethrow_exception(problem);
    }
  } catch (const std::bad_alloc&) {
    say_out_of_memory();
    std::_Exit(2);
  } catch (...) {
    std::abort();
  }
  std::abort();
}

int carry_out_words(const std::vector<std::string>& words) {
  if (const auto costs = tracso::parse_cost_options(words)) {
    const auto* leave = std::get_if<tracso::Leave>(&*costs);
    return leave != nullptr ? say_and_leave(*leave)
                            : tracso::carry_out(std::get<tracso::CostRequest>(*costs));
  }
  const auto parsed = tracso::parse_options(words);
  if (const auto* leave = std::get_if<tracso::Leave>(&parsed)) {
    return say_and_leave(*leave);
  }
  return tracso::carry_out(std::get<tracso::Request>(parsed));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  tracso::keep_standard_descriptors();
  std::set_terminate(at_terminate);
  try {
    return carry_out_words(words);
  } catch (const std::bad_alloc&) {  // the machine's, or a limit's: nothing that we could mend
    say_out_of_memory();
    return 2;
  } catch (const std::exception& error) {  // a fault of ours: said like every other
    std::fprintf(stderr,
                 "tracso: this is a fault of tracso: %s\n"
                 "hint: please report it, with the command and 'tracso --version'\n",
                 error.what());
    return 2;
  }
}
