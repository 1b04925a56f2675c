/*
 * ip1_915ef3d7: compute-core function of layer layer_ip1
 *
 *   input flatten f32[1,32]
 *   constant ip1_weight_transposed f32[32,16]
 *   constant ip1_bias f32[16]
 *   output relu1 f32[1,16]
 *   intermediate AB f32[1,16]
 *   ip1_matmul: AB[x<1, y<16] = sum_{k<32} (flatten[x, k] * ip1_weight_transposed[k, y])
 *   relu1: relu1[x<1, y<16] = max((AB[x, y] + ip1_bias[y]), 0.0)
 *
 * cores    1
 * buffers  t_flatten_ldm of flatten: [1,32], 128 bytes at 0
 *          t_ip1_weight_transposed_ldm of ip1_weight_transposed: [32,16], 2048 bytes at 128
 *          t_AB_ldm of AB: [1,16], 64 bytes at 2176
 *          t_ip1_bias_ldm of ip1_bias: [16], 64 bytes at 2240
 *          t_relu1_ldm of relu1: [1,16], 64 bytes at 2176
 * LDM      2304 bytes of buffers
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

struct ip1_915ef3d7_ldm {
  float t_flatten_ldm[1][32];  /* flatten: 128 bytes at 0 */
  float t_ip1_weight_transposed_ldm[32][16];  /* ip1_weight_transposed: 2048 bytes at 128 */
  union {
    float t_AB_ldm[1][16];  /* AB: 64 bytes at 2176 */
    float t_relu1_ldm[1][16];  /* relu1: 64 bytes at 2176 */
  };
  float t_ip1_bias_ldm[16];  /* ip1_bias: 64 bytes at 2240 */
  struct ip1_915ef3d7_para para;
  volatile unsigned reply_para, reply_flatten, reply_ip1_weight_transposed, reply_ip1_bias, reply_relu1;
};
SW_CHECK(ip1_915ef3d7_t_flatten_ldm_is_in_place, offsetof(struct ip1_915ef3d7_ldm, t_flatten_ldm) == 0);
SW_CHECK(ip1_915ef3d7_t_ip1_weight_transposed_ldm_is_in_place, offsetof(struct ip1_915ef3d7_ldm, t_ip1_weight_transposed_ldm) == 128);
SW_CHECK(ip1_915ef3d7_t_AB_ldm_is_in_place, offsetof(struct ip1_915ef3d7_ldm, t_AB_ldm) == 2176);
SW_CHECK(ip1_915ef3d7_t_ip1_bias_ldm_is_in_place, offsetof(struct ip1_915ef3d7_ldm, t_ip1_bias_ldm) == 2240);
SW_CHECK(ip1_915ef3d7_t_relu1_ldm_is_in_place, offsetof(struct ip1_915ef3d7_ldm, t_relu1_ldm) == 2176);
SW_CHECK(ip1_915ef3d7_buffers_fit, 2304 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(ip1_915ef3d7_all_fits, sizeof(struct ip1_915ef3d7_ldm) <= SW_ARENA_BYTES);

void ip1_915ef3d7(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 1) return;
  struct ip1_915ef3d7_ldm *ldm = LDM_OF(struct ip1_915ef3d7_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *t_flatten = ldm->para.t_flatten;
  float *t_ip1_weight_transposed = ldm->para.t_ip1_weight_transposed;
  float *t_ip1_bias = ldm->para.t_ip1_bias;
  float *t_relu1 = ldm->para.t_relu1;

  /* get flatten[0 .. +1][0 .. +32]: flatten before the first loop */
  ldm->reply_flatten = 0;
  athread_get(PE_MODE, t_flatten, ldm->t_flatten_ldm, 128, (void *)&ldm->reply_flatten, 0, 0, 0);
  /* get ip1_weight_transposed[0 .. +32][0 .. +16]: ip1_weight_transposed before the first loop */
  ldm->reply_ip1_weight_transposed = 0;
  athread_get(PE_MODE, t_ip1_weight_transposed, ldm->t_ip1_weight_transposed_ldm, 2048, (void *)&ldm->reply_ip1_weight_transposed, 0, 0, 0);
  /* get ip1_bias[0 .. +16]: ip1_bias before the first loop */
  ldm->reply_ip1_bias = 0;
  athread_get(PE_MODE, t_ip1_bias, ldm->t_ip1_bias_ldm, 64, (void *)&ldm->reply_ip1_bias, 0, 0, 0);
  dma_wait(&ldm->reply_flatten, 1);
  dma_wait(&ldm->reply_ip1_weight_transposed, 1);
  dma_wait(&ldm->reply_ip1_bias, 1);
  /* initialisation of AB */
  for (int i = 0; i < 16; i++) ((float *)ldm->t_AB_ldm)[i] = 0.0f;
  {
    floatv4 acc00, acc01, acc02, acc03;
    simd_load(acc00, &ldm->t_AB_ldm[0][0]);
    simd_load(acc01, &ldm->t_AB_ldm[0][4]);
    simd_load(acc02, &ldm->t_AB_ldm[0][8]);
    simd_load(acc03, &ldm->t_AB_ldm[0][12]);
    for (int ki = 0; ki < 32; ki++) {
      floatv4 a_;
      floatv4 b0_, b1_, b2_, b3_;
      simd_loade(a_, &ldm->t_flatten_ldm[0][ki]);
      simd_load(b0_, &ldm->t_ip1_weight_transposed_ldm[ki][0]);
      simd_load(b1_, &ldm->t_ip1_weight_transposed_ldm[ki][4]);
      simd_load(b2_, &ldm->t_ip1_weight_transposed_ldm[ki][8]);
      simd_load(b3_, &ldm->t_ip1_weight_transposed_ldm[ki][12]);
      acc00 = simd_vmas(a_, b0_, acc00);
      acc01 = simd_vmas(a_, b1_, acc01);
      acc02 = simd_vmas(a_, b2_, acc02);
      acc03 = simd_vmas(a_, b3_, acc03);
    }
    simd_store(acc00, &ldm->t_AB_ldm[0][0]);
    simd_store(acc01, &ldm->t_AB_ldm[0][4]);
    simd_store(acc02, &ldm->t_AB_ldm[0][8]);
    simd_store(acc03, &ldm->t_AB_ldm[0][12]);
  }
  for (int yi = 0; yi < 16; yi++) {
    ldm->t_relu1_ldm[0][yi] = sw_max_float((ldm->t_AB_ldm[0][yi] + ldm->t_ip1_bias_ldm[yi]), 0.0f);
  }
  /* put relu1[0 .. +1][0 .. +16]: relu1 after the last loop */
  ldm->reply_relu1 = 0;
  athread_put(PE_MODE, ldm->t_relu1_ldm, t_relu1, 64, (void *)&ldm->reply_relu1, 0, 0);
  dma_wait(&ldm->reply_relu1, 1);
}
