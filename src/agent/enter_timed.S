// A traced call, from the stub of its slot (r11 = number of the slot, everything else is the
// caller's) to the return. Counting is always done. Timing works like this:
//
//   at entry    [rsp] = R0, the caller's return address; this place is S
//               R0, the slot and the time go to the mirror frame F(S); then R0 is taken off the stack
//               and the function *called*, so that our address lies at S and all else is as it was:
//               arguments on the stack are where the function expects them
//   on return   the time is added up, R0 is put back at S, and ret
//
// Each call is met by one return at the same depth: the processor's return predictor, and a shadow
// stack, stay in step.

#include "shared_layout.h"
#include "mirror.inc"
#include "registers.inc"
#include "unwind.inc"

        .hidden this_thread, targets, alive, exact_calls, error_rules, session_start
        .hidden prepare_to_count, take_slot_back, record_call, record_return
        .hidden look_at_asking_call, answer, count_and_go
        .globl enter_timed, enter_lazy, enter_recorded, returns_start, returns_end
        .hidden enter_timed, enter_lazy, enter_recorded, returns_start, returns_end
        .globl enter_asking, enter_recorded_asking
        .hidden enter_asking, enter_recorded_asking
        .text

// --- what happens rarely. rax, rdx and rcx are on the stack.

        .p2align 4
// Counted already, not to be timed: on to the function.
call_untimed:
        .cfi_startproc
        .cfi_def_cfa_offset 32
        mov targets(%rip),%rdx
        mov %r11d,%r11d                         // without the weight
        mov (%rdx,%r11,8),%r11
        GIVE_BACK %rcx
        GIVE_BACK %rdx
        GIVE_BACK %rax
        jmp *%r11
        .cfi_endproc

        .macro FIRST_CALL_OF_THREAD name
        .p2align 4
first_\name:
        .cfi_startproc
        .cfi_def_cfa_offset 32
        SAVE_ALL
        call prepare_to_count
        test %eax,%eax
        RESTORE_ALL
        jnz again_\name
        jmp call_untimed
        .cfi_endproc
        .endm

        FIRST_CALL_OF_THREAD timed
        FIRST_CALL_OF_THREAD lazy
        FIRST_CALL_OF_THREAD followed

// --- entry

        .macro ENTRY name
        .p2align 6
enter_\name:
        .cfi_startproc
        KEEP %rax
        KEEP %rdx
        KEEP %rcx
again_\name:
        mov alive(%rip),%rcx
        cmpl $0,(%rcx)
        je first_\name
        THREAD_BLOCK %rcx
        test %rcx,%rcx
        jz first_\name

        STAT_OFFSET %r11,%rdx
        incq STAT(%rcx,%rdx,TRACSO_STAT_CALLS)  // one instruction: a signal handler may count too
        mov STAT(%rcx,%rdx,TRACSO_STAT_CALLS),%rax

        // The first calls are all timed, then one in 16: which, is mixed from the number, so that
        // no rhythm of the program can fall in step with it.
        cmp exact_calls(%rip),%rax
        jbe 1f
        imul $0x9E3779B1,%eax,%eax
        shr $28,%eax
        jnz call_untimed
        bts $34,%r11                            // weight 2^4 in the upper half
1:
        lea 24(%rsp),%rax                       // S
        test $8,%al
        jz call_untimed                         // not 8 modulo 16: frames would overlap
        mov %rax,%rdx
        shr $41,%rdx
        cmp $0x3f,%edx
        jne call_untimed                        // not in the mirrored window

        // Reached by a jump out of a function that was called through us (tail call): S holds our
        // own return point, whose frame is in use.
        lea returns_start(%rip),%rdx
        sub 24(%rsp),%rdx
        neg %rdx
        cmp $(returns_end - returns_start),%rdx
        jb call_untimed

        MIRROR_OF %rax
        mov 24(%rsp),%rdx
        mov %rdx,FRAME_RETURN_ADDRESS(%rax)
        mov %r11,FRAME_SLOT(%rax)
        mov TRACSO_THREAD_CHILDREN(%rcx),%rdx
        mov %rdx,FRAME_CHILDREN(%rax)
        movq $0,TRACSO_THREAD_CHILDREN(%rcx)
        mov %rax,%rcx
        mov targets(%rip),%rdx
        mov %r11d,%r11d
        mov (%rdx,%r11,8),%r11
        rdtsc
        shl $32,%rdx
        or %rdx,%rax
        mov %rax,FRAME_START(%rcx)
        GIVE_BACK %rcx
        GIVE_BACK %rdx
        GIVE_BACK %rax
        CFI_RETURN_ADDRESS_IN_MIRROR
        .cfi_adjust_cfa_offset 8
        lea 8(%rsp),%rsp                        // R0 off the stack; lea leaves the flags alone
        .cfi_adjust_cfa_offset -8
        call *%r11
        .endm

        ENTRY timed

// --- return. The function's results are in rax, rdx, xmm0, st0...: all are kept.

returns_start:
return_timed:
        KEEP %rax                               // makes room at S for R0
        KEEP %rax
        KEEP %rdx
        KEEP %rcx
        KEEP %rsi
        KEEP %rdi
        lea 40(%rsp),%rcx                       // S
        MIRROR_OF %rcx
        mov FRAME_RETURN_ADDRESS(%rcx),%rdx
        mov %rdx,40(%rsp)                       // at S again
        rdtsc
        shl $32,%rdx
        or %rdx,%rax
        mov FRAME_START(%rcx),%rdi
        cmp session_start(%rip),%rdi
        jb began_before_session
        sub %rdi,%rax                           // ticks
        mov FRAME_SLOT(%rcx),%edx
        mov FRAME_SLOT+4(%rcx),%esi             // log2 of the weight
        THREAD_BLOCK %r11

        // Did it fail? By the value it returned (still on the stack) and the slot's rule.
        mov error_rules(%rip),%rdi
        movzbl (%rdi,%rdx),%edi
        test %edi,%edi
        jnz failed_by_rule
1:
        STAT_OFFSET %rdx,%rdx
        cmp %rax,STAT(%r11,%rdx,TRACSO_STAT_LONGEST)
        jae 2f
        mov %rax,STAT(%r11,%rdx,TRACSO_STAT_LONGEST)
2:      xchg %rsi,%rcx
        shl %cl,%rax                            // ticks times weight
        mov %rsi,%rcx
        add %rax,STAT(%r11,%rdx,TRACSO_STAT_TOTAL)
        mov TRACSO_THREAD_CHILDREN(%r11),%rsi
        neg %rsi
        add %rax,%rsi
        add %rsi,STAT(%r11,%rdx,TRACSO_STAT_SELF)  // less what traced calls inside took
        add FRAME_CHILDREN(%rcx),%rax
        mov %rax,TRACSO_THREAD_CHILDREN(%r11)
began_before_session:
        GIVE_BACK %rdi
        GIVE_BACK %rsi
        GIVE_BACK %rcx
        GIVE_BACK %rdx
        GIVE_BACK %rax
        ret

// edi = enum tracso_error_when, 32(%rsp) = rax as returned, edx = slot, esi = log2 of the weight.
failed_by_rule:
        cmp $2,%edi
        jb 3f                                   // 1: int -1
        je 4f                                   // 2: long -1
        cmp $4,%edi
        jb 5f                                   // 3: null
        je 6f                                   // 4: int < 0
        cmpl $0,32(%rsp)                        // 5: int not 0
        jne 7f
        jmp 1b
3:      cmpl $-1,32(%rsp)
        je 7f
        jmp 1b
4:      cmpq $-1,32(%rsp)
        je 7f
        jmp 1b
5:      cmpq $0,32(%rsp)
        je 7f
        jmp 1b
6:      cmpl $0,32(%rsp)
        jl 7f
        jmp 1b
7:      xchg %rsi,%rcx                          // the weight as shift count
        mov $1,%edi
        shl %cl,%rdi
        xchg %rsi,%rcx
        STAT_OFFSET %rdx,%rdx
        add %rdi,STAT(%r11,%rdx,TRACSO_STAT_ERRORS)
        mov FRAME_SLOT(%rcx),%edx
        jmp 1b
        .cfi_endproc

// --- the first call through a lazy slot: the loader has bound it meanwhile (rebinding.c).

        ENTRY lazy
return_lazy:
        lea -8(%rsp),%rsp                       // S stays ours while C code runs
        .cfi_adjust_cfa_offset 8
        SAVE_ALL
        lea SAVED_BYTES(%rbp),%rdi              // S
        MIRROR_OF %rdi
        mov FRAME_SLOT(%rdi),%edi
        call take_slot_back
        RESTORE_ALL
        lea 8(%rsp),%rsp
        .cfi_adjust_cfa_offset -8
        jmp return_timed
        .cfi_endproc

// --- calls that are recorded with their arguments (record.c), else as timed ones.

        .p2align 4
enter_recorded:
        .cfi_startproc
        SAVE_ALL
        SAVE_ARGUMENTS
        call record_call
        RESTORE_ALL
        jmp enter_followed
        .cfi_endproc

        ENTRY followed
return_followed:
        lea -8(%rsp),%rsp                       // S stays ours while C code runs
        .cfi_adjust_cfa_offset 8
        SAVE_ALL
        sub $16,%rsp
        movsd %xmm0,(%rsp)
        lea SAVED_BYTES(%rbp),%rdi              // S
        mov %rax,%rsi
        mov %rsp,%rdx
        call record_return
        RESTORE_ALL
        lea 8(%rsp),%rsp
        .cfi_adjust_cfa_offset -8
        jmp return_timed
        .cfi_endproc

// --- look-ups by dlsym: counted, and the result goes through answer() (pointers.c). The name that
// was asked for stands in the frame where others have the time.

        .p2align 4
enter_recorded_asking:
        .cfi_startproc
        SAVE_ALL
        SAVE_ARGUMENTS
        call record_call
        RESTORE_ALL
        jmp enter_asking
        .cfi_endproc

        .p2align 4
enter_asking:
        .cfi_startproc
        SAVE_ALL
        mov %rbp,%rdi
        call look_at_asking_call
        test %eax,%eax
        RESTORE_ALL
        jz count_and_go
        KEEP %rax
        KEEP %rdx
        KEEP %rcx
        lea 24(%rsp),%rax                       // S; the same conditions as above
        test $8,%al
        jz 1f
        mov %rax,%rdx
        shr $41,%rdx
        cmp $0x3f,%edx
        jne 1f
        lea returns_start(%rip),%rdx
        sub 24(%rsp),%rdx
        neg %rdx
        cmp $(returns_end - returns_start),%rdx
        jb 1f
        THREAD_BLOCK %rcx
        STAT_OFFSET %r11,%rdx
        incq STAT(%rcx,%rdx,TRACSO_STAT_CALLS)
        MIRROR_OF %rax
        mov 24(%rsp),%rdx
        mov %rdx,FRAME_RETURN_ADDRESS(%rax)
        mov %r11,FRAME_SLOT(%rax)
        mov %rsi,FRAME_START(%rax)
        mov targets(%rip),%rdx
        mov (%rdx,%r11,8),%r11
        GIVE_BACK %rcx
        GIVE_BACK %rdx
        GIVE_BACK %rax
        .cfi_remember_state
        CFI_RETURN_ADDRESS_IN_MIRROR
        .cfi_adjust_cfa_offset 8
        lea 8(%rsp),%rsp
        .cfi_adjust_cfa_offset -8
        call *%r11
return_asking:
        lea -8(%rsp),%rsp                       // S stays ours while C code runs
        .cfi_adjust_cfa_offset 8
        SAVE_ALL
        lea SAVED_BYTES(%rbp),%rcx              // S
        MIRROR_OF %rcx
        mov %rax,%rdi
        mov FRAME_SLOT(%rcx),%esi
        mov FRAME_START(%rcx),%rdx
        call answer
        mov %rax,72(%rbp)                       // where SAVE_ALL has rax
        RESTORE_ALL
        KEEP %rcx
        KEEP %rdx
        lea 16(%rsp),%rcx                       // S
        MIRROR_OF %rcx
        mov FRAME_RETURN_ADDRESS(%rcx),%rdx
        mov %rdx,16(%rsp)
        GIVE_BACK %rdx
        GIVE_BACK %rcx
        ret
        .cfi_restore_state
1:      .cfi_def_cfa_offset 32
        GIVE_BACK %rcx
        GIVE_BACK %rdx
        GIVE_BACK %rax
        jmp count_and_go
        .cfi_endproc
returns_end:

        .section .note.GNU-stack,"",@progbits
