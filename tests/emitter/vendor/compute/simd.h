// SPDX-License-Identifier: Apache-2.0
// floatv4 of the machine, a type of its compiler, as a vector type of gcc and clang. The loads and stores are functions
// here, so that a wrong type of vector or address is seen.
#ifndef VENDOR_SIMD_H
#define VENDOR_SIMD_H

typedef float floatv4 __attribute__((vector_size(16)));
typedef double doublev4 __attribute__((vector_size(32)));

extern floatv4 vendor_load(const float *from);
extern floatv4 vendor_load_unaligned(const float *from);
extern floatv4 vendor_splat(const float *from);
extern void vendor_store(floatv4 value, float *to);
extern void vendor_store_unaligned(floatv4 value, float *to);

/* The variable comes first, in stores too. */
#define simd_load(v, p) ((v) = vendor_load(p))
#define simd_loadu(v, p) ((v) = vendor_load_unaligned(p))
#define simd_loade(v, p) ((v) = vendor_splat(p))
#define simd_store(v, p) vendor_store((v), (p))
#define simd_storeu(v, p) vendor_store_unaligned((v), (p))

/* Register communication: 8 sends to all of the column, or of the row; what is taken has the type of what is named. */
extern void simd_putc(doublev4 value, int to);
extern doublev4 simd_getc(doublev4 type);
extern void simd_putr(doublev4 value, int to);
extern doublev4 simd_getr(doublev4 type);
extern floatv4 simd_set_floatv4(float a, float b, float c, float d);
extern floatv4 simd_vmas(floatv4 a, floatv4 b, floatv4 c);
extern floatv4 simd_vmss(floatv4 a, floatv4 b, floatv4 c);
extern floatv4 simd_vnmas(floatv4 a, floatv4 b, floatv4 c);
extern floatv4 simd_vadds(floatv4 a, floatv4 b);
extern floatv4 simd_vsubs(floatv4 a, floatv4 b);
extern floatv4 simd_vmuls(floatv4 a, floatv4 b);
extern floatv4 simd_vdivs(floatv4 a, floatv4 b);
extern floatv4 simd_vfcmplts(floatv4 a, floatv4 b);
extern floatv4 simd_vfcmples(floatv4 a, floatv4 b);
extern floatv4 simd_vfcmpeqs(floatv4 a, floatv4 b);
extern floatv4 simd_vseleqs(floatv4 a, floatv4 b, floatv4 c);

#endif
