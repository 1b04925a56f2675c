/*
 * ip1_5e4cc560: compute-core function of layer layer_ip1
 *
 *   input flatten f32[1,32]
 *   constant ip1_weight_transposed f32[2,32,8] packed [32, 16, 1] by 8
 *   constant ip1_bias f32[2,8]
 *   output relu1 f32[1,2,8]
 *   intermediate AB f32[1,2,8]
 *   ip1_matmul: AB[x<1, y_block<2, y_lane<8] = sum_{k<32} (flatten[x, k] * ip1_weight_transposed[y_block, k, y_lane])
 *   relu1: relu1[x<1, y_block<2, y_lane<8] = max((AB[x, y_block, y_lane] + ip1_bias[y_block, y_lane]), 0.0)
 *
 * cores    2: y_block in 2 parts
 * buffers  t_flatten_ldm of flatten: [1,32], 128 bytes at 0
 *          t_ip1_weight_transposed_ldm of ip1_weight_transposed: [1,32,8], 1024 bytes at 128
 *          t_AB_ldm of AB: [1,1,8], 32 bytes at 1152
 *          t_ip1_bias_ldm of ip1_bias: [1,8], 32 bytes at 1184
 *          t_relu1_ldm of relu1: [1,1,8], 32 bytes at 1152
 * LDM      1216 bytes of buffers
 * loops    none
 * DMA      get flatten outside all loops
 *          get ip1_weight_transposed outside all loops
 *          get ip1_bias outside all loops
 *          put relu1 outside all loops
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slave.h"
#include "dma.h"
#include "simd.h"
#include "layers_mix.h"
#include "sw_rt.h"

struct ip1_5e4cc560_ldm {
  float t_flatten_ldm[1][32];  /* flatten: 128 bytes at 0 */
  float t_ip1_weight_transposed_ldm[1][32][8];  /* ip1_weight_transposed: 1024 bytes at 128 */
  union {
    float t_AB_ldm[1][1][8];  /* AB: 32 bytes at 1152 */
    float t_relu1_ldm[1][1][8];  /* relu1: 32 bytes at 1152 */
  };
  float t_ip1_bias_ldm[1][8];  /* ip1_bias: 32 bytes at 1184 */
  struct ip1_5e4cc560_para para;
  volatile unsigned reply_para, reply_flatten, reply_ip1_weight_transposed, reply_ip1_bias, reply_relu1;
};
SW_CHECK(ip1_5e4cc560_t_flatten_ldm_is_in_place, offsetof(struct ip1_5e4cc560_ldm, t_flatten_ldm) == 0);
SW_CHECK(ip1_5e4cc560_t_ip1_weight_transposed_ldm_is_in_place, offsetof(struct ip1_5e4cc560_ldm, t_ip1_weight_transposed_ldm) == 128);
SW_CHECK(ip1_5e4cc560_t_AB_ldm_is_in_place, offsetof(struct ip1_5e4cc560_ldm, t_AB_ldm) == 1152);
SW_CHECK(ip1_5e4cc560_t_ip1_bias_ldm_is_in_place, offsetof(struct ip1_5e4cc560_ldm, t_ip1_bias_ldm) == 1184);
SW_CHECK(ip1_5e4cc560_t_relu1_ldm_is_in_place, offsetof(struct ip1_5e4cc560_ldm, t_relu1_ldm) == 1152);
SW_CHECK(ip1_5e4cc560_buffers_fit, 1216 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(ip1_5e4cc560_all_fits, sizeof(struct ip1_5e4cc560_ldm) <= SW_ARENA_BYTES);

void ip1_5e4cc560(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 2) return;
  struct ip1_5e4cc560_ldm *ldm = LDM_OF(struct ip1_5e4cc560_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *t_flatten = ldm->para.t_flatten;
  float *t_ip1_weight_transposed = ldm->para.t_ip1_weight_transposed;
  float *t_ip1_bias = ldm->para.t_ip1_bias;
  float *t_relu1 = ldm->para.t_relu1;

  const int y_block_core = core;
  /* get flatten[0 .. +1][0 .. +32]: flatten before the first loop */
  ldm->reply_flatten = 0;
  athread_get(PE_MODE, t_flatten, ldm->t_flatten_ldm, 128, (void *)&ldm->reply_flatten, 0, 0, 0);
  /* get ip1_weight_transposed[y_block_core .. +1][0 .. +32][0 .. +8]: ip1_weight_transposed before the first loop */
  ldm->reply_ip1_weight_transposed = 0;
  athread_get(PE_MODE, t_ip1_weight_transposed + 256 * y_block_core, ldm->t_ip1_weight_transposed_ldm, 1024, (void *)&ldm->reply_ip1_weight_transposed, 0, 0, 0);
  /* get ip1_bias[y_block_core .. +1][0 .. +8]: ip1_bias before the first loop */
  ldm->reply_ip1_bias = 0;
  athread_get(PE_MODE, t_ip1_bias + 8 * y_block_core, ldm->t_ip1_bias_ldm, 32, (void *)&ldm->reply_ip1_bias, 0, 0, 0);
  dma_wait(&ldm->reply_flatten, 1);
  dma_wait(&ldm->reply_ip1_weight_transposed, 1);
  dma_wait(&ldm->reply_ip1_bias, 1);
  /* initialisation of AB */
  {
    floatv4 v_ = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int i = 0; i < 8; i += 4) simd_store(v_, &((float *)ldm->t_AB_ldm)[i]);
  }
  {
    floatv4 acc00, acc01;
    simd_load(acc00, &ldm->t_AB_ldm[0][0][0]);
    simd_load(acc01, &ldm->t_AB_ldm[0][0][4]);
    for (int ki = 0; ki < 32; ki++) {
      floatv4 a_;
      floatv4 b0_, b1_;
      simd_loade(a_, &ldm->t_flatten_ldm[0][ki]);
      simd_load(b0_, &ldm->t_ip1_weight_transposed_ldm[0][ki][0]);
      simd_load(b1_, &ldm->t_ip1_weight_transposed_ldm[0][ki][4]);
      acc00 = simd_vmas(a_, b0_, acc00);
      acc01 = simd_vmas(a_, b1_, acc01);
    }
    simd_store(acc00, &ldm->t_AB_ldm[0][0][0]);
    simd_store(acc01, &ldm->t_AB_ldm[0][0][4]);
  }
  for (int y_lanei = 0; y_lanei < 8; y_lanei++) {
    ldm->t_relu1_ldm[0][0][y_lanei] = sw_max_float((ldm->t_AB_ldm[0][0][y_lanei] + ldm->t_ip1_bias_ldm[0][y_lanei]), 0.0f);
  }
  /* put relu1[0 .. +1][y_block_core .. +1][0 .. +8]: relu1 after the last loop */
  ldm->reply_relu1 = 0;
  athread_put(PE_MODE, ldm->t_relu1_ldm, t_relu1 + 8 * y_block_core, 32, (void *)&ldm->reply_relu1, 0, 0);
  dma_wait(&ldm->reply_relu1, 1);
}
