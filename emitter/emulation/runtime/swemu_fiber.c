// SPDX-License-Identifier: Apache-2.0
// Fibers: one per compute core that has begun and not ended. A switch saves what the calling convention keeps and
// nothing else (about 12 ns; ucontext's also saves the signal mask, by a system call, and takes 20 times as long).
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "swemu_state.h"

#if SWEMU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(SWEMU_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define SWEMU_UCONTEXT
#endif

/* Before and behind the LDM, for its canaries; the LDM stays at a multiple of the alignment of DMA. */
enum { PAGE = 4096, LEAST_MARGIN = 128 };
#if SWEMU_ASAN
enum { STACK_BYTES = 1 << 20 };
#else
enum { STACK_BYTES = 1 << 18 };
#endif

#if defined(SWEMU_UCONTEXT)

#include <ucontext.h>

struct context {
  ucontext_t registers;
};

static void prepare(struct swemu_fiber* fiber, void (*body)(void)) {
  struct context* context = fiber->sp ? fiber->sp : swemu_checked_realloc(NULL, sizeof *context);
  getcontext(&context->registers);
  context->registers.uc_stack.ss_sp = fiber->stack;
  context->registers.uc_stack.ss_size = fiber->stack_bytes;
  context->registers.uc_link = NULL;
  makecontext(&context->registers, body, 0);
  fiber->sp = context;
}

static void swap(void** save, void* load) {
  if (!*save) *save = swemu_checked_realloc(NULL, sizeof(struct context));
  swapcontext(&((struct context*)*save)->registers, &((struct context*)load)->registers);
}

#else

/* swemu_switch(void **save, void *load): pushes the kept registers, stores the stack pointer in *save, continues on
 * the stack `load`. */
void swemu_switch(void** save, void* load);

#if defined(__x86_64__)
__asm__(
    ".text\n.globl swemu_switch\n.type swemu_switch,@function\n"
    "swemu_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size swemu_switch, .-swemu_switch\n");
enum { SAVED_WORDS = 6 };

static void prepare(struct swemu_fiber* fiber, void (*body)(void)) {
  /* `ret` pops body's address and leaves the stack as a call would: 8 below a multiple of 16. */
  void** top = (void**)(void*)(fiber->stack + fiber->stack_bytes);
  *--top = NULL;
  void* address;
  memcpy(&address, &body, sizeof address);
  *--top = address;
  top -= SAVED_WORDS;
  memset(top, 0, SAVED_WORDS * sizeof *top);
  fiber->sp = top;
}
#else
__asm__(
    ".text\n.globl swemu_switch\n.type swemu_switch,%function\n"
    "swemu_switch:\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
    "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n  ret\n"
    ".size swemu_switch, .-swemu_switch\n");

static void prepare(struct swemu_fiber* fiber, void (*body)(void)) {
  char* top = fiber->stack + fiber->stack_bytes - 160;
  memset(top, 0, 160);
  memcpy(top + 88, &body, sizeof body); /* x30, the address that `ret` goes to */
  fiber->sp = top;
}
#endif

static void swap(void** save, void* load) { swemu_switch(save, load); }

#endif

static char* map(size_t bytes) {
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) swemu_fatal("emulation-memory", NULL, -1, "no memory for a core's stack and LDM");
  return memory;
}

struct swemu_fiber* swemu_new_fiber(void (*body)(void)) {
  struct swemu_fiber* fiber = swemu_checked_realloc(NULL, sizeof *fiber);
  memset(fiber, 0, sizeof *fiber);
  /* Guard pages below the stack and on both sides of the LDM turn a runaway access into a reported crash. */
  char* stack = map(STACK_BYTES + PAGE);
  mprotect(stack, PAGE, PROT_NONE);
  fiber->stack = stack + PAGE;
  fiber->stack_bytes = STACK_BYTES;
  const size_t margin = swemu_config.alignment > LEAST_MARGIN ? (size_t)swemu_config.alignment : LEAST_MARGIN;
  const size_t room = ((size_t)swemu_config.ldm_bytes + 2 * margin + PAGE - 1) / PAGE * PAGE;
  char* arena = map(room + 2 * PAGE);
  mprotect(arena, PAGE, PROT_NONE);
  mprotect(arena + PAGE + room, PAGE, PROT_NONE);
  fiber->arena = arena + PAGE + margin;
  swemu_reset_fiber(fiber, body);
  return fiber;
}

void swemu_reset_fiber(struct swemu_fiber* fiber, void (*body)(void)) { prepare(fiber, body); }

void swemu_enter_fiber(struct swemu_worker* worker, struct swemu_fiber* fiber) {
  swemu_core = fiber->core;
#if SWEMU_ASAN
  void* fake_stack = NULL;
  __sanitizer_start_switch_fiber(&fake_stack, fiber->stack, fiber->stack_bytes);
#endif
  swap(&worker->scheduler_sp, fiber->sp);
#if SWEMU_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, NULL, NULL);
#endif
  swemu_core = NULL;
}

#if SWEMU_ASAN
static __thread const void* scheduler_stack;
static __thread size_t scheduler_stack_bytes;

void swemu_fiber_entered(struct swemu_fiber* fiber) {
  __sanitizer_finish_switch_fiber(fiber->fake_stack, &scheduler_stack, &scheduler_stack_bytes);
}
#else
void swemu_fiber_entered(struct swemu_fiber* fiber) { (void)fiber; }
#endif

void swemu_leave_fiber(struct swemu_worker* worker, struct swemu_fiber* fiber, int for_good) {
#if SWEMU_ASAN
  __sanitizer_start_switch_fiber(for_good ? NULL : &fiber->fake_stack, scheduler_stack, scheduler_stack_bytes);
#endif
  if (for_good) fiber->fake_stack = NULL;
  swap(&fiber->sp, worker->scheduler_sp);
  swemu_fiber_entered(fiber);
}
