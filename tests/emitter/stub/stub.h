// SPDX-License-Identifier: Apache-2.0
// The least that emitted sources need to compile and run on a host, one core after the other, DMA done at once. It is
// here to test emission by itself; the emulation runtime is another thing.
#ifndef STUB_H
#define STUB_H
#include <stddef.h>

static inline int athread_init(void) { return 0; }
static inline int athread_halt(void) { return 0; }
static inline int athread_set_num_threads(int threads) { return threads == STUB_CORES ? 0 : -1; }
static inline int athread_join(void) { return 0; }
#define SLAVE_FUN(f) f
#define athread_spawn(f, argument) stub_spawn(SLAVE_FUN(f), (argument))
void stub_spawn(void (*kernel)(void *), void *argument);

enum { PE_MODE };
enum { ARRAY_SCOPE };
#define athread_get(mode, source, target, length, reply, mask, stride, block) \
  stub_dma(__FILE__, __LINE__, (source), (target), (length), (reply), (stride), (block), 1)
#define athread_put(mode, source, target, length, reply, stride, block) \
  stub_dma(__FILE__, __LINE__, (source), (target), (length), (reply), (stride), (block), 0)
#define dma_wait(reply, count) stub_wait(__FILE__, __LINE__, (reply), (count))
#define athread_get_id(core) stub_core_id()
void stub_dma(const char *file, int line, const void *source, void *target, int length, void *reply, int stride,
              int block, int is_get);
void stub_wait(const char *file, int line, volatile unsigned *reply, int count);
int stub_core_id(void);
void *swemu_ldm(size_t bytes, size_t buffer_bytes);
void *swemu_alloc(size_t bytes);

typedef float floatv4 __attribute__((vector_size(16), may_alias));
typedef float stub_unaligned __attribute__((vector_size(16), aligned(4), may_alias));
#define simd_load(v, p) ((v) = *(const floatv4 *)(p))
#define simd_store(v, p) (*(floatv4 *)(p) = (v))
#define simd_loadu(v, p) ((v) = *(const stub_unaligned *)(p))
#define simd_storeu(v, p) (*(stub_unaligned *)(p) = (v))
#define simd_loade(v, p) ((v) = simd_set_floatv4(*(p), *(p), *(p), *(p)))
static inline floatv4 simd_set_floatv4(float a, float b, float c, float d) { return (floatv4){a, b, c, d}; }
static inline floatv4 simd_vmas(floatv4 a, floatv4 b, floatv4 c) { return a * b + c; }
static inline floatv4 simd_vmss(floatv4 a, floatv4 b, floatv4 c) { return a * b - c; }
static inline floatv4 simd_vnmas(floatv4 a, floatv4 b, floatv4 c) { return c - a * b; }
static inline floatv4 simd_vadds(floatv4 a, floatv4 b) { return a + b; }
static inline floatv4 simd_vsubs(floatv4 a, floatv4 b) { return a - b; }
static inline floatv4 simd_vmuls(floatv4 a, floatv4 b) { return a * b; }
static inline floatv4 simd_vdivs(floatv4 a, floatv4 b) { return a / b; }
static inline floatv4 simd_vfcmplts(floatv4 a, floatv4 b) {
  floatv4 less = {0, 0, 0, 0};
  for (int i = 0; i < 4; i++) less[i] = a[i] < b[i] ? 2 : 0;
  return less;
}
static inline floatv4 simd_vfcmples(floatv4 a, floatv4 b) {
  floatv4 at_most = {0, 0, 0, 0};
  for (int i = 0; i < 4; i++) at_most[i] = a[i] <= b[i] ? 2 : 0;
  return at_most;
}
static inline floatv4 simd_vfcmpeqs(floatv4 a, floatv4 b) {
  floatv4 equal = {0, 0, 0, 0};
  for (int i = 0; i < 4; i++) equal[i] = a[i] == b[i] ? 2 : 0;
  return equal;
}
static inline floatv4 simd_vseleqs(floatv4 a, floatv4 b, floatv4 c) {
  floatv4 chosen = {0, 0, 0, 0};
  for (int i = 0; i < 4; i++) chosen[i] = a[i] == 0 ? b[i] : c[i];
  return chosen;
}

#endif
