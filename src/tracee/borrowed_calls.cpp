// The calls that a borrowed thread makes for us.

#include "tracee/borrowed_thread.hpp"
#include "tracee/requests.hpp"

#include <algorithm>
#include <thread>

namespace tracso::tracee {

std::uint64_t BorrowedThread::put_text(const std::string& text, std::size_t place) {
  const auto at = workshop_ + workshop::data_at + workshop::texts_at + place * workshop::text_bytes;
  const auto bytes = std::as_bytes(std::span(text.c_str(), text.size() + 1));
  const bool fits = bytes.size() <= workshop::text_bytes && place < workshop::most_texts;
  return fits && write(at, bytes) ? at : 0;
}

Result<Done> BorrowedThread::await_done(Clock::time_point end) {
  auto pause = std::chrono::microseconds(20);
  for (;;) {
    if (auto error = look_at_report()) {
      return *error;
    }
    std::uint64_t state = workshop::is_running;
    read(workshop_ + workshop::data_at + workshop::state_at,
         std::as_writable_bytes(std::span(&state, 1)));
    if (state == workshop::is_done) {
      return Done{};
    }
    if (state != workshop::is_running || Clock::now() > end) {
      return Error{ErrorKind::interrupted,
                   "call a function in",
                   std::to_string(process_),
                   "it did not come to its end in time",
                   ""};
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(500));
  }
}

bool BorrowedThread::write_calls(std::span<const RemoteCall> calls) {
  const auto data = workshop_ + workshop::data_at;
  std::array<workshop::CallRecord, workshop::most_calls> records{};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    records[i].call = calls[i];
  }
  const std::uint64_t end = data + workshop::calls_at + calls.size() * sizeof records[0];
  return write(data + workshop::state_at, bytes_of(workshop::is_running)) &&
         write(data + workshop::calls_at, std::as_bytes(std::span(records).first(calls.size()))) &&
         write(data + workshop::calls_end_at, bytes_of(end));
}

Result<std::vector<std::uint64_t>> BorrowedThread::call_all(std::span<const RemoteCall> calls,
                                                            std::chrono::milliseconds limit) {
  const auto data = workshop_ + workshop::data_at;
  const auto stack = workshop_ + workshop_bytes - 64;
  if (!held_ || faulted_ || calls.empty() || calls.size() > workshop::most_calls ||
      !write_calls(calls) || !state_.borrow(thread_, workshop_, stack, data)) {
    return gone();
  }
  resume(thread_, 0);
  const auto done = await_done(Clock::now() + limit);
  if (!done && (faulted_ || !held_)) {
    return done.error();
  }
  if (!stop_again()) {
    return gone();
  }
  const auto now = ThreadState::of(thread_);
  if (!now || now->pc() < workshop_ || now->pc() >= workshop_ + workshop::page) {
    if (!done) {
      return done.error();  // it is in the function: leave_alone(), or let_go() takes it out
    }
    leave_alone();  // it waited long enough for us and is where it was
    return gone();
  }
  std::array<workshop::CallRecord, workshop::most_calls> records{};
  read(data + workshop::calls_at, std::as_writable_bytes(std::span(records).first(calls.size())));
  std::vector<std::uint64_t> results;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    results.push_back(records[i].result);
  }
  return results;
}

Result<std::uint64_t> BorrowedThread::call(std::uint64_t function,
                                           const std::array<std::uint64_t, 6>& arguments,
                                           std::chrono::milliseconds limit) {
  const RemoteCall one{function, arguments};
  const auto results = call_all(std::span(&one, 1), limit);
  return results ? Result<std::uint64_t>(results->front()) : results.error();
}

RemoteCall BorrowedThread::as_call(std::int64_t number,
                                   const std::array<std::uint64_t, 5>& arguments) const {
  return {workshop_ + workshop::system_call_code,
          {static_cast<std::uint64_t>(number),
           arguments[0],
           arguments[1],
           arguments[2],
           arguments[3],
           arguments[4]}};
}

Result<std::int64_t> BorrowedThread::system_call(std::int64_t number,
                                                 const std::array<std::uint64_t, 5>& arguments) {
  constexpr std::chrono::milliseconds limit{2000};
  const auto one = as_call(number, arguments);
  const auto result = call(one.function, one.arguments, limit);
  return result ? Result<std::int64_t>(static_cast<std::int64_t>(*result)) : result.error();
}

}  // namespace tracso::tracee
