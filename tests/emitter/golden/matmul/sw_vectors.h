// SPDX-License-Identifier: Apache-2.0
/* What kernels compute with vectors beyond simd.h. */
#ifndef SW_VECTORS_H
#define SW_VECTORS_H

/* The larger number of each lane, NaN where either is NaN, a where they are equal: b unless it is at most a, which NaN
 * never is, and a where that is NaN. */
#define SW_VMAX(a, b) simd_vseleqs(simd_vfcmpeqs((a), (a)), (a), simd_vseleqs(simd_vfcmples((b), (a)), (b), (a)))

/*
 * Two to four vectors side by side: of the row x the vectors x0, x1 ... The emulation's simd.h defines these macros for
 * the host's own vectors, which may be wider.
 */
#ifndef SW_VECTORS2
#define SW_VECTORS2(x) floatv4 x##0, x##1
#define SW_VECTORS3(x) floatv4 x##0, x##1, x##2
#define SW_VECTORS4(x) floatv4 x##0, x##1, x##2, x##3
/* All of them the same number. */
#define SW_SET2(x, value) (x##0 = x##1 = simd_set_floatv4((value), (value), (value), (value)))
#define SW_SET3(x, value) (x##2 = SW_SET2(x, value))
#define SW_SET4(x, value) (x##3 = SW_SET3(x, value))
/* From and to an aligned address, or (U) any. */
#define SW_MOVE2(move, x, p) do { move(x##0, (p)); move(x##1, (p) + 4); } while (0)
#define SW_MOVE3(move, x, p) do { SW_MOVE2(move, x, p); move(x##2, (p) + 8); } while (0)
#define SW_MOVE4(move, x, p) do { SW_MOVE3(move, x, p); move(x##3, (p) + 12); } while (0)
#define SW_LOAD2(x, p) SW_MOVE2(simd_load, x, p)
#define SW_LOAD3(x, p) SW_MOVE3(simd_load, x, p)
#define SW_LOAD4(x, p) SW_MOVE4(simd_load, x, p)
#define SW_LOADU2(x, p) SW_MOVE2(simd_loadu, x, p)
#define SW_LOADU3(x, p) SW_MOVE3(simd_loadu, x, p)
#define SW_LOADU4(x, p) SW_MOVE4(simd_loadu, x, p)
#define SW_STORE2(x, p) SW_MOVE2(simd_store, x, p)
#define SW_STORE3(x, p) SW_MOVE3(simd_store, x, p)
#define SW_STORE4(x, p) SW_MOVE4(simd_store, x, p)
#define SW_STOREU2(x, p) SW_MOVE2(simd_storeu, x, p)
#define SW_STOREU3(x, p) SW_MOVE3(simd_storeu, x, p)
#define SW_STOREU4(x, p) SW_MOVE4(simd_storeu, x, p)
/* To each of x the product of the one vector a and each of b is added. */
#define SW_MAS2(x, a, b) do { x##0 = simd_vmas(a, b##0, x##0); x##1 = simd_vmas(a, b##1, x##1); } while (0)
#define SW_MAS3(x, a, b) do { SW_MAS2(x, a, b); x##2 = simd_vmas(a, b##2, x##2); } while (0)
#define SW_MAS4(x, a, b) do { SW_MAS3(x, a, b); x##3 = simd_vmas(a, b##3, x##3); } while (0)
/* The same with each of a. */
#define SW_MAS_EACH2(x, a, b) do { x##0 = simd_vmas(a##0, b##0, x##0); x##1 = simd_vmas(a##1, b##1, x##1); } while (0)
#define SW_MAS_EACH3(x, a, b) do { SW_MAS_EACH2(x, a, b); x##2 = simd_vmas(a##2, b##2, x##2); } while (0)
#define SW_MAS_EACH4(x, a, b) do { SW_MAS_EACH3(x, a, b); x##3 = simd_vmas(a##3, b##3, x##3); } while (0)
/* From here on the vectors are used one by one. */
#define SW_APART2(x) ((void)0)
#define SW_APART3(x) ((void)0)
#define SW_APART4(x) ((void)0)
#endif

#endif
