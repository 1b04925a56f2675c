// SPDX-License-Identifier: Apache-2.0
/*
 * What all sources of this program share: the LDM arena, index arithmetic, and on the management core memory and files.
 * The same text serves the Sunway compilers and, with SW_EMULATION, a host's compiler.
 */
#ifndef SW_RT_H
#define SW_RT_H

#include <stddef.h>
#include <stdint.h>

#define SW_LDM_BYTES 65536 /* local device memory of a compute core */
#define SW_LDM_RESERVED 6144 /* of it for the stack, the parameter struct and the reply words */
#define SW_LDM_ALIGNMENT 32 /* of every buffer */
#define SW_ARENA_BYTES 33576 /* the largest of the kernels' structs */

/* A condition that the compiler checks (C99 has no _Static_assert). */
#define SW_CHECK(name, condition) typedef char name[(condition) ? 1 : -1]

/*
 * Every __thread_local variable of a program takes its own part of the one LDM, so all kernels overlay one arena, each
 * with a struct of its buffers at their planned offsets.
 */
#ifdef SW_EMULATION
#define LDM_OF(T) ((T *)swemu_ldm(sizeof(T), offsetof(T, para))) /* buffers lie before para */
#else
#ifdef SW_COMPUTE_CORE
extern __thread_local char sw_ldm[SW_ARENA_BYTES];
#endif
#define LDM_OF(T) ((T *)sw_ldm)
#endif

/* Division and remainder that round towards minus infinity; divisors are positive. */
static inline int sw_floor_div(int a, int b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
static inline int sw_floor_mod(int a, int b) { return a - sw_floor_div(a, b) * b; }

/* A position that counts from the end if it is negative. */
static inline int sw_wrap(long position, int extent) { return (int)(position < 0 ? position + extent : position); }

#define SW_DEFINE_MIN_MAX(suffix, type)                                             \
  static inline type sw_min##suffix(type a, type b) { return b < a ? b : a; }       \
  static inline type sw_max##suffix(type a, type b) { return a < b ? b : a; }
SW_DEFINE_MIN_MAX(, int)
SW_DEFINE_MIN_MAX(_long, long)
SW_DEFINE_MIN_MAX(_ulong, unsigned long)

/* NaN where either is NaN, a where they are equal. Compilers drop the second condition where b is a constant. */
#define SW_DEFINE_FLOAT_MIN_MAX(suffix, type)             \
  static inline type sw_min##suffix(type a, type b) {     \
    const type smaller = b < a ? b : a;                   \
    return b != b ? b : smaller;                          \
  }                                                       \
  static inline type sw_max##suffix(type a, type b) {     \
    const type larger = a < b ? b : a;                    \
    return b != b ? b : larger;                           \
  }
SW_DEFINE_FLOAT_MIN_MAX(_float, float)
SW_DEFINE_FLOAT_MIN_MAX(_double, double)

/* A floating-point number as an integer, towards zero. C leaves open what is beyond the range:
 * here the nearest integer, and 0 for NaN. */
#define SW_DEFINE_TO_INTEGER(name, low, high)                                                         \
  static inline name##_t sw_to_##name(double a) {                                                     \
    return a != a ? 0 : a <= (double)low ? low : a >= (double)high ? high : (name##_t)a;              \
  }
SW_DEFINE_TO_INTEGER(int8, INT8_MIN, INT8_MAX)
SW_DEFINE_TO_INTEGER(int16, INT16_MIN, INT16_MAX)
SW_DEFINE_TO_INTEGER(int32, INT32_MIN, INT32_MAX)
SW_DEFINE_TO_INTEGER(int64, INT64_MIN, INT64_MAX)
SW_DEFINE_TO_INTEGER(uint8, 0, UINT8_MAX)
SW_DEFINE_TO_INTEGER(uint16, 0, UINT16_MAX)
SW_DEFINE_TO_INTEGER(uint32, 0, UINT32_MAX)
SW_DEFINE_TO_INTEGER(uint64, 0, UINT64_MAX)

/* Integers wrap around: C leaves the overflow of signed ones undefined. */
#define SW_DEFINE_ARITHMETIC(suffix, type)                                                                        \
  static inline type sw_add##suffix(type a, type b) { return (type)((unsigned type)a + (unsigned type)b); }       \
  static inline type sw_sub##suffix(type a, type b) { return (type)((unsigned type)a - (unsigned type)b); }       \
  static inline type sw_mul##suffix(type a, type b) { return (type)((unsigned type)a * (unsigned type)b); }       \
  static inline type sw_abs##suffix(type a) { return a < 0 ? sw_sub##suffix(0, a) : a; }
SW_DEFINE_ARITHMETIC(, int)
SW_DEFINE_ARITHMETIC(_long, long)

/* Integer division that neither traps nor overflows: by zero it gives 0. */
static inline int sw_div(int a, int b) { return b == 0 ? 0 : b == -1 ? (int)(0u - (unsigned)a) : a / b; }
static inline long sw_div_long(long a, long b) { return b == 0 ? 0 : b == -1 ? (long)(0ul - (unsigned long)a) : a / b; }
static inline unsigned long sw_div_ulong(unsigned long a, unsigned long b) { return b == 0 ? 0 : a / b; }

static inline unsigned long sw_pow_ulong(unsigned long base, unsigned long exponent) {
  unsigned long result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

/* Negative exponents give 0 but for the bases 1 and -1. */
static inline long sw_pow_long(long base, long exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  return (long)sw_pow_ulong((unsigned long)base, (unsigned long)exponent);
}

#ifdef SW_MANAGEMENT_CORE
#include <stdio.h>
#include <stdlib.h>

/* Main memory at a multiple of `alignment` bytes; ends the program where there is none. */
static inline void *sw_alloc_aligned(size_t alignment, size_t bytes) {
  void *memory = NULL;
  if (bytes == 0) bytes = alignment;
#ifdef SW_EMULATION
  memory = swemu_alloc(bytes); /* at a multiple of a memory line */
#else
  if (posix_memalign(&memory, alignment, bytes) != 0) memory = NULL;
#endif
  if (memory == NULL) {
    fprintf(stderr, "no main memory for %lu bytes\n", (unsigned long)bytes);
    exit(1);
  }
  return memory;
}

/* Raw bytes of a file in the current folder; ends the program unless it has exactly so many. */
static inline void sw_read_file(const char *name, void *to, size_t bytes) {
  FILE *file = fopen(name, "rb");
  if (file == NULL || fread(to, 1, bytes, file) != bytes || fgetc(file) != EOF) {
    fprintf(stderr, "%s: not a file of %lu bytes\n", name, (unsigned long)bytes);
    exit(1);
  }
  fclose(file);
}

static inline void sw_write_file(const char *name, const void *from, size_t bytes) {
  FILE *file = fopen(name, "wb");
  if (file == NULL || fwrite(from, 1, bytes, file) != bytes || fclose(file) != 0) {
    fprintf(stderr, "%s: cannot be written\n", name);
    exit(1);
  }
}
#endif

#endif
