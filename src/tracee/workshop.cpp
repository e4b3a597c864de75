#include "tracee/workshop.hpp"

namespace tracso::tracee::workshop {
namespace {

constexpr std::uint8_t calls_code[] = {
    0x4c, 0x8d, 0xa3, 0x00, 0x0c, 0, 0,  // lea 3072(%rbx),%r12    the first call
    0x49, 0x8b, 0x04, 0x24,              // 1: mov (%r12),%rax     its function
    0x49, 0x8b, 0x7c, 0x24, 0x08,        // mov 8(%r12),%rdi       its arguments
    0x49, 0x8b, 0x74, 0x24, 0x10,        // mov 16(%r12),%rsi
    0x49, 0x8b, 0x54, 0x24, 0x18,        // mov 24(%r12),%rdx
    0x49, 0x8b, 0x4c, 0x24, 0x20,        // mov 32(%r12),%rcx
    0x4d, 0x8b, 0x44, 0x24, 0x28,        // mov 40(%r12),%r8
    0x4d, 0x8b, 0x4c, 0x24, 0x30,        // mov 48(%r12),%r9
    0xff, 0xd0,                          // call *%rax
    0x49, 0x89, 0x44, 0x24, 0x38,        // mov %rax,56(%r12)      its result
    0x49, 0x83, 0xc4, 0x40,              // add $64,%r12
    0x4c, 0x3b, 0x63, 0x10,              // cmp 16(%rbx),%r12      behind the last one?
    0x72, 0xcd,                          // jb 1b
    0x48, 0xc7, 0x03, 0x01, 0,    0, 0,  // movq $1,(%rbx)         done
    0x31, 0xff,                          // xor %edi,%edi          ppoll(0, 0, &pause, 0)
    0x31, 0xf6,                          // xor %esi,%esi
    0x48, 0x8d, 0x53, 0x48,              // lea 72(%rbx),%rdx
    0x45, 0x31, 0xd2,                    // xor %r10d,%r10d
    0x41, 0xb8, 0x08, 0,    0,    0,     // mov $8,%r8d
    0xb8, 0x0f, 0x01, 0,    0,           // mov $271,%eax
    0x0f, 0x05,                          // syscall
    0x48, 0xc7, 0x03, 0x02, 0,    0, 0,  // movq $2,(%rbx)         nobody came
    0x48, 0x8d, 0xa3, 0x00, 0x01, 0, 0,  // lea 256(%rbx),%rsp     rt_sigreturn
    0xb8, 0x0f, 0,    0,    0,           // mov $15,%eax
    0x0f, 0x05,                          // syscall
};

constexpr std::uint8_t system_call[] = {
    0xf3, 0x0f, 0x1e, 0xfa,  // endbr64
    0x48, 0x89, 0xf8,        // mov %rdi,%rax
    0x48, 0x89, 0xf7,        // mov %rsi,%rdi
    0x48, 0x89, 0xd6,        // mov %rdx,%rsi
    0x48, 0x89, 0xca,        // mov %rcx,%rdx
    0x4d, 0x89, 0xc2,        // mov %r8,%r10
    0x4d, 0x89, 0xc8,        // mov %r9,%r8
    0x0f, 0x05,              // syscall
    0xc3,                    // ret
};
static_assert(sizeof calls_code <= system_call_code);
static_assert(calls_at == 0xc00 && context_at == 0x100 && pause_at == 0x48 && calls_end_at == 0x10,
              "as in the code");

}  // namespace

std::span<const std::byte> code() {
  return std::as_bytes(std::span(calls_code));
}

std::span<const std::byte> system_call_function() {
  return std::as_bytes(std::span(system_call));
}

}  // namespace tracso::tracee::workshop
