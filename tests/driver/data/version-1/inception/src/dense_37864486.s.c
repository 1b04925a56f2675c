/*
 * dense_37864486: compute-core function of layer layer_dense
 *
 *   input flatten f32[1,16]
 *   constant dense_weight_transposed f32[16,10]
 *   constant dense_bias f32[10]
 *   output dense f32[1,10]
 *   intermediate AB f32[1,10]
 *   dense_matmul: AB[x<1, y<10] = sum_{k<16} (flatten[x, k] * dense_weight_transposed[k, y])
 *   dense_scale: dense[x<1, y<10] = (AB[x, y] + dense_bias[y])
 *
 * cores    10: y in 10 parts
 * buffers  flatten_ldm of flatten: [1,16], 64 bytes at 0
 *          dense_weight_transposed_ldm of dense_weight_transposed: [16,1], 64 bytes at 64
 *          AB_ldm of AB: [1,1], 4 bytes at 128
 *          dense_bias_ldm of dense_bias: [1], 4 bytes at 160
 *          dense_ldm of dense: [1,1], 4 bytes at 128
 * LDM      192 bytes of buffers
 * loops    none
 * DMA      get flatten outside all loops
 *          get dense_weight_transposed outside all loops
 *          get dense_bias outside all loops
 *          put dense outside all loops
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slave.h"
#include "dma.h"
#include "simd.h"
#include "layers_mix.h"
#include "sw_rt.h"

struct dense_37864486_ldm {
  float flatten_ldm[1][16];  /* flatten: 64 bytes at 0 */
  float dense_weight_transposed_ldm[16][1];  /* dense_weight_transposed: 64 bytes at 64 */
  union {
    float AB_ldm[1][1];  /* AB: 4 bytes at 128 */
    float dense_ldm[1][1];  /* dense: 4 bytes at 128 */
  };
  char gap0_[28];
  float dense_bias_ldm[1];  /* dense_bias: 4 bytes at 160 */
  struct dense_37864486_para para;
  volatile unsigned reply_para, reply_flatten, reply_dense_weight_transposed, reply_dense_bias, reply_dense;
};
SW_CHECK(dense_37864486_flatten_ldm_is_in_place, offsetof(struct dense_37864486_ldm, flatten_ldm) == 0);
SW_CHECK(dense_37864486_dense_weight_transposed_ldm_is_in_place, offsetof(struct dense_37864486_ldm, dense_weight_transposed_ldm) == 64);
SW_CHECK(dense_37864486_AB_ldm_is_in_place, offsetof(struct dense_37864486_ldm, AB_ldm) == 128);
SW_CHECK(dense_37864486_dense_bias_ldm_is_in_place, offsetof(struct dense_37864486_ldm, dense_bias_ldm) == 160);
SW_CHECK(dense_37864486_dense_ldm_is_in_place, offsetof(struct dense_37864486_ldm, dense_ldm) == 128);
SW_CHECK(dense_37864486_buffers_fit, 164 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(dense_37864486_all_fits, sizeof(struct dense_37864486_ldm) <= SW_ARENA_BYTES);

void dense_37864486(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 10) return;
  struct dense_37864486_ldm *ldm = LDM_OF(struct dense_37864486_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *flatten = ldm->para.flatten;
  float *dense_weight_transposed = ldm->para.dense_weight_transposed;
  float *dense_bias = ldm->para.dense_bias;
  float *dense = ldm->para.dense;

  const int y_core = core;
  /* get flatten[0 .. +1][0 .. +16]: flatten before the first loop */
  ldm->reply_flatten = 0;
  athread_get(PE_MODE, flatten, ldm->flatten_ldm, 64, (void *)&ldm->reply_flatten, 0, 0, 0);
  /* get dense_weight_transposed[0 .. +16][y_core .. +1]: dense_weight_transposed before the first loop */
  ldm->reply_dense_weight_transposed = 0;
  athread_get(PE_MODE, dense_weight_transposed + y_core, ldm->dense_weight_transposed_ldm, 64, (void *)&ldm->reply_dense_weight_transposed, 0, 36, 4);
  /* get dense_bias[y_core .. +1]: dense_bias before the first loop */
  ldm->reply_dense_bias = 0;
  athread_get(PE_MODE, dense_bias + y_core, ldm->dense_bias_ldm, 4, (void *)&ldm->reply_dense_bias, 0, 0, 0);
  dma_wait(&ldm->reply_flatten, 1);
  dma_wait(&ldm->reply_dense_weight_transposed, 1);
  dma_wait(&ldm->reply_dense_bias, 1);
  /* initialisation of AB */
  for (int i = 0; i < 1; i++) ((float *)ldm->AB_ldm)[i] = 0.0f;
  {
    float acc_ = ldm->AB_ldm[0][0];
    for (int ki = 0; ki < 16; ki++) {
      acc_ += ldm->flatten_ldm[0][ki] * ldm->dense_weight_transposed_ldm[ki][0];
    }
    ldm->AB_ldm[0][0] = acc_;
  }
  {
    ldm->dense_ldm[0][0] = ldm->AB_ldm[0][0] + ldm->dense_bias_ldm[0];
  }
  /* put dense[0 .. +1][y_core .. +1]: dense after the last loop */
  ldm->reply_dense = 0;
  athread_put(PE_MODE, ldm->dense_ldm, dense + y_core, 4, (void *)&ldm->reply_dense, 0, 0);
  dma_wait(&ldm->reply_dense, 1);
}
