// Calls that are counted and not timed, where the few instructions of the stub do not suffice: the
// first of a thread, and those of functions that load objects.

#include "shared_layout.h"
#include "registers.inc"

        .hidden this_thread, targets, prepare_to_count, look_at_loading_call, record_call
        .globl count_and_go
        .hidden count_and_go
        .globl enter_counted, enter_loading, enter_recorded_only, enter_recorded_loading
        .hidden enter_counted, enter_loading, enter_recorded_only, enter_recorded_loading
        .text

        .p2align 4
enter_counted:
        .cfi_startproc
        SAVE_ALL
        call prepare_to_count
        RESTORE_ALL
count_and_go:
        KEEP %rax
        KEEP %rdx
        KEEP %rcx
        THREAD_BLOCK %rcx
        STAT_OFFSET %r11,%rdx
        incq STAT(%rcx,%rdx,TRACSO_STAT_CALLS)
        mov targets(%rip),%rdx
        mov (%rdx,%r11,8),%r11
        GIVE_BACK %rcx
        GIVE_BACK %rdx
        GIVE_BACK %rax
        jmp *%r11
        .cfi_endproc

        .p2align 4
enter_loading:
        .cfi_startproc
        SAVE_ALL
        mov %r11,%rdi
        mov %rbp,%rsi
        call look_at_loading_call
        RESTORE_ALL
        jmp count_and_go
        .cfi_endproc

        .p2align 4
enter_recorded_only:
        .cfi_startproc
        SAVE_ALL
        SAVE_ARGUMENTS
        call record_call
        RESTORE_ALL
        jmp count_and_go
        .cfi_endproc

        .p2align 4
enter_recorded_loading:
        .cfi_startproc
        SAVE_ALL
        SAVE_ARGUMENTS
        call record_call
        mov 8(%rbp),%rdi                        // r11
        mov %rbp,%rsi
        call look_at_loading_call
        RESTORE_ALL
        jmp count_and_go
        .cfi_endproc

        .section .note.GNU-stack,"",@progbits
