// SPDX-License-Identifier: Apache-2.0
// The macros of sw_vectors.h for vectors side by side, by vectors of the host that hold two of the machine's. Each lane is
// computed as by the macros there. Not with the sanitizers, which look at the alignment of each vector of the machine.
#ifndef SWEMU_SIDE_BY_SIDE_H
#define SWEMU_SIDE_BY_SIDE_H

#if defined(__AVX__)

typedef float swemu_wide __attribute__((vector_size(32)));
typedef float swemu_any_wide __attribute__((vector_size(32), aligned(4), may_alias));

static inline swemu_wide swemu_splat_wide(float x) { return (swemu_wide){x, x, x, x, x, x, x, x}; }
/* Into a register, once: gcc would have every product of a row load its operand anew, for which there are too few loads
 * in a cycle. */
static inline swemu_wide swemu_load_wide(const float* p) {
  swemu_wide v = (swemu_wide) * (const swemu_any_wide*)(const void*)p;
  __asm__("" : "+x"(v));
  return v;
}
static inline void swemu_store_wide(swemu_wide v, float* p) { *(swemu_any_wide*)(void*)p = v; }
static inline floatv4 swemu_load(const float* p) { return (floatv4) * (const swemu_any_floats*)(const void*)p; }
static inline void swemu_store(floatv4 v, float* p) { *(swemu_any_floats*)(void*)p = v; }
static inline floatv4 swemu_first(swemu_wide v) { return (floatv4){v[0], v[1], v[2], v[3]}; }
static inline floatv4 swemu_second(swemu_wide v) { return (floatv4){v[4], v[5], v[6], v[7]}; }
#if defined(__FMA__)
static inline swemu_wide swemu_mas_wide(swemu_wide a, swemu_wide b, swemu_wide c) {
  return __builtin_ia32_vfmaddps256(a, b, c);
}
#else
static inline swemu_wide swemu_mas_wide(swemu_wide a, swemu_wide b, swemu_wide c) { return a * b + c; }
#endif

/* x_l holds x0 and x1, x_h x2 and x3, or x2 alone. */
#define SW_VECTORS2(x) swemu_wide x##_l
#define SW_VECTORS3(x) \
  swemu_wide x##_l;    \
  floatv4 x##_h
#define SW_VECTORS4(x) swemu_wide x##_l, x##_h

#define SW_SET2(x, value) (x##_l = swemu_splat_wide(value))
#define SW_SET3(x, value) (SW_SET2(x, value), x##_h = swemu_splat(value))
#define SW_SET4(x, value) (SW_SET2(x, value), x##_h = swemu_splat_wide(value))

#define SW_LOAD2(x, p) (x##_l = swemu_load_wide(p))
#define SW_LOAD3(x, p) (SW_LOAD2(x, p), x##_h = swemu_load((p) + 8))
#define SW_LOAD4(x, p) (SW_LOAD2(x, p), x##_h = swemu_load_wide((p) + 8))
#define SW_LOADU2(x, p) SW_LOAD2(x, p)
#define SW_LOADU3(x, p) SW_LOAD3(x, p)
#define SW_LOADU4(x, p) SW_LOAD4(x, p)

#define SW_STORE2(x, p) swemu_store_wide(x##_l, (p))
#define SW_STORE3(x, p) (SW_STORE2(x, p), swemu_store(x##_h, (p) + 8))
#define SW_STORE4(x, p) (SW_STORE2(x, p), swemu_store_wide(x##_h, (p) + 8))
#define SW_STOREU2(x, p) SW_STORE2(x, p)
#define SW_STOREU3(x, p) SW_STORE3(x, p)
#define SW_STOREU4(x, p) SW_STORE4(x, p)

#define SW_MAS2(x, a, b) (x##_l = swemu_mas_wide(swemu_splat_wide((a)[0]), b##_l, x##_l))
#define SW_MAS3(x, a, b) (SW_MAS2(x, a, b), x##_h = simd_vmas((a), b##_h, x##_h))
#define SW_MAS4(x, a, b) (SW_MAS2(x, a, b), x##_h = swemu_mas_wide(swemu_splat_wide((a)[0]), b##_h, x##_h))

#define SW_MAS_EACH2(x, a, b) (x##_l = swemu_mas_wide(a##_l, b##_l, x##_l))
#define SW_MAS_EACH3(x, a, b) (SW_MAS_EACH2(x, a, b), x##_h = simd_vmas(a##_h, b##_h, x##_h))
#define SW_MAS_EACH4(x, a, b) (SW_MAS_EACH2(x, a, b), x##_h = swemu_mas_wide(a##_h, b##_h, x##_h))

#define SW_APART2(x) floatv4 x##0 = swemu_first(x##_l), x##1 = swemu_second(x##_l)
#define SW_APART3(x) \
  SW_APART2(x);      \
  floatv4 x##2 = x##_h
#define SW_APART4(x) \
  SW_APART2(x);      \
  floatv4 x##2 = swemu_first(x##_h), x##3 = swemu_second(x##_h)

#endif

#endif
