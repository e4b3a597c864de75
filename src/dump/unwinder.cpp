// libunwind asks for everything: words of memory, registers, the tables of an address. So it never
// sees the process, only what we let it see, and every loop in it ends when we give no more words
// (its interpreter of DWARF expressions fetches each operation through us, too).
#if defined(TRACSO_LIBUNWIND)

#include "dump/unwinder.hpp"

#include "dump/code_places.hpp"
#include "dump/unwind_tables.hpp"
#include "python/memory_reader.hpp"

#include <libunwind.h>
#include <sys/user.h>

#include <array>
#include <cstddef>
#include <cstring>

extern "C" {
// Part of the library, and of no header: what finds an address in a sorted table.
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space,
                                       unw_word_t ip,
                                       unw_dyn_info_t* tables,
                                       unw_proc_info_t* found,
                                       int need_unwind_info,
                                       void* argument);
}

namespace tracso::dump {
namespace {

constexpr std::size_t most_frames = 2000;
constexpr std::uint64_t most_words = 1'000'000;  // of one stack
constexpr std::uint64_t most_table_bytes = std::uint64_t{64} << 20U;

// By libunwind's numbers, which are those of DWARF for x86-64.
constexpr std::array<std::size_t, 17> registers = {offsetof(user_regs_struct, rax),
                                                   offsetof(user_regs_struct, rdx),
                                                   offsetof(user_regs_struct, rcx),
                                                   offsetof(user_regs_struct, rbx),
                                                   offsetof(user_regs_struct, rsi),
                                                   offsetof(user_regs_struct, rdi),
                                                   offsetof(user_regs_struct, rbp),
                                                   offsetof(user_regs_struct, rsp),
                                                   offsetof(user_regs_struct, r8),
                                                   offsetof(user_regs_struct, r9),
                                                   offsetof(user_regs_struct, r10),
                                                   offsetof(user_regs_struct, r11),
                                                   offsetof(user_regs_struct, r12),
                                                   offsetof(user_regs_struct, r13),
                                                   offsetof(user_regs_struct, r14),
                                                   offsetof(user_regs_struct, r15),
                                                   offsetof(user_regs_struct, rip)};

}  // namespace

class Unwinder::Space {
 public:
  explicit Space(const ProcessSource& process)
      : tables_(process),
        memory_(process, limits(std::chrono::steady_clock::time_point::max())),
        accessors_(accessors()),
        space_(unw_create_addr_space(&accessors_, 0)) {
    unw_set_caching_policy(space_, UNW_CACHE_GLOBAL);
  }

  ~Space() { unw_destroy_addr_space(space_); }

  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  void restart(const std::vector<Mapping>& mappings) {
    mappings_ = &mappings;
    tables_.restart(mappings);
    memory_.forget();
    unw_flush_cache(space_, 0, 0);
  }

  UnwoundStack unwind(const ThreadCopy& thread, std::chrono::steady_clock::time_point deadline);

 private:
  static python::ReadLimits limits(std::chrono::steady_clock::time_point deadline) {
    python::ReadLimits limits;
    limits.bytes = most_table_bytes;
    limits.deadline = deadline;
    return limits;
  }

  static Space& self(void* argument) { return *static_cast<Space*>(argument); }

  static unw_accessors_t accessors();
  bool word(std::uint64_t address, unw_word_t* value);
  int tables_of(unw_word_t ip, unw_proc_info_t* found, int need);

  const std::vector<Mapping>* mappings_ = nullptr;
  UnwindTableFinder tables_;
  python::MemoryReader memory_;
  unw_accessors_t accessors_;
  unw_addr_space_t space_;
  const ThreadCopy* thread_ = nullptr;
  std::uint64_t words_ = 0;
  bool no_table_ = false;  // for the frame that is unwound now
};

// The stack is of the moment of the hold; what is written to meanwhile is of another one and is
// not looked at. Files hold tables, and in .data the pointers that these lead through.
bool Unwinder::Space::word(std::uint64_t address, unw_word_t* value) {
  if (++words_ > most_words) {
    return false;
  }
  const auto& stack = thread_->stack;
  if (address >= thread_->stack_start && address - thread_->stack_start < stack.size()) {
    const auto at = address - thread_->stack_start;
    if (stack.size() - at < sizeof *value) {
      return false;
    }
    std::memcpy(value, stack.data() + at, sizeof *value);
    return true;
  }
  const auto* mapping = mapping_at(*mappings_, address);
  if (mapping == nullptr || (mapping->writable && !mapping->has_file())) {
    return false;
  }
  const auto got = memory_.value<std::uint64_t>(address);
  *value = got.value_or(0);
  return got.has_value();
}

int Unwinder::Space::tables_of(unw_word_t ip, unw_proc_info_t* found, int need) {
  const auto tables = tables_.at(ip);
  if (!tables || ip < tables->code_start || ip >= tables->code_end) {
    no_table_ = true;
    return -UNW_ENOINFO;
  }
  unw_dyn_info_t info{};
  info.start_ip = tables->code_start;
  info.end_ip = tables->code_end;
  info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  info.u.rti.segbase = tables->header;
  info.u.rti.table_data = tables->table;
  info.u.rti.table_len = tables->entries * 8 / sizeof(unw_word_t);
  const int result = UNW_OBJ(dwarf_search_unwind_table)(space_, ip, &info, found, need, this);
  no_table_ = no_table_ || result < 0;
  return result;
}

// By name, for later versions have more members.
unw_accessors_t Unwinder::Space::accessors() {
  unw_accessors_t table{};
  table.find_proc_info =
      [](unw_addr_space_t, unw_word_t ip, unw_proc_info_t* found, int need, void* argument) {
        return self(argument).tables_of(ip, found, need);
      };
  // The library frees what it has allocated into its own pool.
  table.put_unwind_info = [](unw_addr_space_t, unw_proc_info_t*, void*) {};
  table.get_dyn_info_list_addr = [](unw_addr_space_t, unw_word_t*, void*) { return -UNW_ENOINFO; };
  table.access_mem =
      [](unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void* argument) {
        return write == 0 && self(argument).word(address, value) ? 0 : -UNW_EINVAL;
      };
  table.access_reg =
      [](unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int write, void* argument) {
        const auto& bytes = self(argument).thread_->registers;
        if (write != 0 || number < 0 || static_cast<std::size_t>(number) >= registers.size()) {
          return -UNW_EBADREG;
        }
        std::memcpy(
            value, bytes.data() + registers.at(static_cast<std::size_t>(number)), sizeof *value);
        return 0;
      };
  table.access_fpreg = [](unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) {
    return -UNW_EBADREG;
  };
  table.resume = [](unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; };
  return table;
}

UnwoundStack Unwinder::Space::unwind(const ThreadCopy& thread,
                                     std::chrono::steady_clock::time_point deadline) {
  UnwoundStack stack;
  if (thread.registers.size() != sizeof(user_regs_struct)) {
    stack.whole = false;
    return stack;
  }
  thread_ = &thread;
  words_ = 0;
  memory_.restart(limits(deadline));
  unw_cursor_t cursor;
  if (unw_init_remote(&cursor, space_, this) < 0) {
    stack.whole = false;
    return stack;
  }
  bool interrupted = true;
  bool guessed = false;
  for (int more = 1; more > 0;) {
    unw_word_t ip = 0;
    if (unw_get_reg(&cursor, UNW_REG_IP, &ip) < 0 || ip == 0) {
      break;
    }
    stack.frames.push_back({ip, interrupted, guessed});
    interrupted = unw_is_signal_frame(&cursor) > 0;
    no_table_ = false;
    const bool may =
        stack.frames.size() < most_frames && std::chrono::steady_clock::now() < deadline;
    more = may ? unw_step(&cursor) : -UNW_EUNSPEC;
    guessed = guessed || no_table_;
    stack.whole = more == 0 && !guessed;
  }
  return stack;
}

Unwinder::Unwinder(const ProcessSource& process) : space_(std::make_unique<Space>(process)) {}

Unwinder::~Unwinder() = default;

bool Unwinder::is_available() {
  return true;
}

void Unwinder::restart(const std::vector<Mapping>& mappings) {
  space_->restart(mappings);
}

UnwoundStack Unwinder::unwind(const ThreadCopy& thread,
                              std::chrono::steady_clock::time_point deadline) {
  return space_->unwind(thread, deadline);
}

}  // namespace tracso::dump

#endif
