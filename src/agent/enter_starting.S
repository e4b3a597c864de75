// Calls that start another program: a look before (starting.c), then as any other.

#include "shared_layout.h"
#include "registers.inc"

        .hidden look_at_starting_call
        .text

        .macro STARTING next
        .hidden enter_\next, enter_starting_\next
        .globl enter_starting_\next
        .p2align 4
enter_starting_\next:
        .cfi_startproc
        SAVE_ALL
        mov %rbp,%rdi
        call look_at_starting_call
        RESTORE_ALL
        jmp enter_\next
        .cfi_endproc
        .endm

        STARTING timed
        STARTING counted
        STARTING recorded
        STARTING recorded_only

        .section .note.GNU-stack,"",@progbits
