// SPDX-License-Identifier: Apache-2.0
// Vectors as GCC's vector extension. As on the machine, simd_load and simd_store need an aligned address.
#ifndef SWEMU_SIMD_H
#define SWEMU_SIMD_H

#include "swemu.h"

typedef float floatv4 __attribute__((vector_size(16)));
typedef float swemu_aligned_floats __attribute__((vector_size(16), may_alias));
typedef int swemu_ints __attribute__((vector_size(16)));
typedef float swemu_any_floats __attribute__((vector_size(16), aligned(4), may_alias));

#define simd_load(v, p) ((v) = (floatv4) * (const swemu_aligned_floats*)(const void*)(p))
#define simd_store(v, p) (*(swemu_aligned_floats*)(void*)(p) = (v))
#define simd_loadu(v, p) ((v) = (floatv4) * (const swemu_any_floats*)(const void*)(p))
#define simd_storeu(v, p) (*(swemu_any_floats*)(void*)(p) = (v))
#define simd_loade(v, p) ((v) = swemu_splat(*(p)))

static inline floatv4 swemu_splat(float x) { return (floatv4){x, x, x, x}; }
static inline floatv4 simd_set_floatv4(float a, float b, float c, float d) { return (floatv4){a, b, c, d}; }
/* Rounded once, as on the machine, where the host can; left to itself gcc rounds twice in some loops and not in others.
 */
#if defined(__FMA__)
static inline floatv4 simd_vmas(floatv4 a, floatv4 b, floatv4 c) { return __builtin_ia32_vfmaddps(a, b, c); }
#else
static inline floatv4 simd_vmas(floatv4 a, floatv4 b, floatv4 c) { return a * b + c; }
#endif
static inline floatv4 simd_vmss(floatv4 a, floatv4 b, floatv4 c) { return simd_vmas(a, b, -c); }
static inline floatv4 simd_vnmas(floatv4 a, floatv4 b, floatv4 c) { return simd_vmas(-a, b, c); }
static inline floatv4 simd_vadds(floatv4 a, floatv4 b) { return a + b; }
static inline floatv4 simd_vsubs(floatv4 a, floatv4 b) { return a - b; }
static inline floatv4 simd_vmuls(floatv4 a, floatv4 b) { return a * b; }
static inline floatv4 simd_vdivs(floatv4 a, floatv4 b) { return a / b; }

/* 2 where the first is less (at most the second, equal to it), else 0; NaN is neither. */
static inline floatv4 swemu_two_where(swemu_ints holds) {
  const floatv4 two = {2, 2, 2, 2};
  return (floatv4)(holds & (swemu_ints)two);
}
static inline floatv4 simd_vfcmplts(floatv4 a, floatv4 b) { return swemu_two_where(a < b); }
static inline floatv4 simd_vfcmples(floatv4 a, floatv4 b) { return swemu_two_where(a <= b); }
static inline floatv4 simd_vfcmpeqs(floatv4 a, floatv4 b) { return swemu_two_where(a == b); }
/* The second where the first is 0, else the third. */
static inline floatv4 simd_vseleqs(floatv4 a, floatv4 b, floatv4 c) {
  const swemu_ints zero = a == (floatv4){0, 0, 0, 0};
  return (floatv4)((zero & (swemu_ints)b) | (~zero & (swemu_ints)c));
}

/* Register communication (swemu_registers.h). The argument of a get says only what type is taken. */
typedef double doublev4 __attribute__((vector_size(32), may_alias));
#define swemu_send(bus, v, to)                                                    \
  (__extension__({                                                                \
    const __typeof__(v) swemu_sent = (v);                                         \
    swemu_send_register(SWEMU_SITE, (bus), &swemu_sent, sizeof swemu_sent, (to)); \
  }))
#define swemu_take(bus, v)                                                    \
  (__extension__({                                                            \
    __typeof__(v) swemu_taken;                                                \
    swemu_take_register(SWEMU_SITE, (bus), &swemu_taken, sizeof swemu_taken); \
    swemu_taken;                                                              \
  }))
#define simd_putr(v, to) swemu_send(SWEMU_ROW, v, to)
#define simd_putc(v, to) swemu_send(SWEMU_COLUMN, v, to)
#define simd_getr(v) swemu_take(SWEMU_ROW, v)
#define simd_getc(v) swemu_take(SWEMU_COLUMN, v)

#include "side_by_side.h"

#endif
