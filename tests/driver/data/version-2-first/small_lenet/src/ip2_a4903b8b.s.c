/*
 * ip2_a4903b8b: compute-core function of layer layer_ip2
 *
 *   input relu1 f32[1,16]
 *   constant ip2_weight_transposed f32[16,10]
 *   constant ip2_bias f32[10]
 *   output ip2 f32[1,10]
 *   intermediate AB f32[1,10]
 *   ip2_matmul: AB[x<1, y<10] = sum_{k<16} (relu1[x, k] * ip2_weight_transposed[k, y])
 *   ip2_scale: ip2[x<1, y<10] = (AB[x, y] + ip2_bias[y])
 *
 * cores    1
 * buffers  t_relu1_ldm of relu1: [1,16], 64 bytes at 0
 *          t_ip2_weight_transposed_ldm of ip2_weight_transposed: [16,10], 640 bytes at 64
 *          t_AB_ldm of AB: [1,10], 40 bytes at 704
 *          t_ip2_bias_ldm of ip2_bias: [10], 40 bytes at 768
 *          t_ip2_ldm of ip2: [1,10], 40 bytes at 704
 * LDM      832 bytes of buffers
 * loops    none
 * DMA      get relu1 outside all loops
 *          get ip2_weight_transposed outside all loops
 *          get ip2_bias outside all loops
 *          put ip2 outside all loops
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slave.h"
#include "dma.h"
#include "simd.h"
#include "layers_mix.h"
#include "sw_rt.h"

struct ip2_a4903b8b_ldm {
  float t_relu1_ldm[1][16];  /* relu1: 64 bytes at 0 */
  float t_ip2_weight_transposed_ldm[16][10];  /* ip2_weight_transposed: 640 bytes at 64 */
  union {
    float t_AB_ldm[1][10];  /* AB: 40 bytes at 704 */
    float t_ip2_ldm[1][10];  /* ip2: 40 bytes at 704 */
  };
  char gap0_[24];
  float t_ip2_bias_ldm[10];  /* ip2_bias: 40 bytes at 768 */
  struct ip2_a4903b8b_para para;
  volatile unsigned reply_para, reply_relu1, reply_ip2_weight_transposed, reply_ip2_bias, reply_ip2;
};
SW_CHECK(ip2_a4903b8b_t_relu1_ldm_is_in_place, offsetof(struct ip2_a4903b8b_ldm, t_relu1_ldm) == 0);
SW_CHECK(ip2_a4903b8b_t_ip2_weight_transposed_ldm_is_in_place, offsetof(struct ip2_a4903b8b_ldm, t_ip2_weight_transposed_ldm) == 64);
SW_CHECK(ip2_a4903b8b_t_AB_ldm_is_in_place, offsetof(struct ip2_a4903b8b_ldm, t_AB_ldm) == 704);
SW_CHECK(ip2_a4903b8b_t_ip2_bias_ldm_is_in_place, offsetof(struct ip2_a4903b8b_ldm, t_ip2_bias_ldm) == 768);
SW_CHECK(ip2_a4903b8b_t_ip2_ldm_is_in_place, offsetof(struct ip2_a4903b8b_ldm, t_ip2_ldm) == 704);
SW_CHECK(ip2_a4903b8b_buffers_fit, 808 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(ip2_a4903b8b_all_fits, sizeof(struct ip2_a4903b8b_ldm) <= SW_ARENA_BYTES);

void ip2_a4903b8b(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 1) return;
  struct ip2_a4903b8b_ldm *ldm = LDM_OF(struct ip2_a4903b8b_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *t_relu1 = ldm->para.t_relu1;
  float *t_ip2_weight_transposed = ldm->para.t_ip2_weight_transposed;
  float *t_ip2_bias = ldm->para.t_ip2_bias;
  float *t_ip2 = ldm->para.t_ip2;

  /* get relu1[0 .. +1][0 .. +16]: relu1 before the first loop */
  ldm->reply_relu1 = 0;
  athread_get(PE_MODE, t_relu1, ldm->t_relu1_ldm, 64, (void *)&ldm->reply_relu1, 0, 0, 0);
  /* get ip2_weight_transposed[0 .. +16][0 .. +10]: ip2_weight_transposed before the first loop */
  ldm->reply_ip2_weight_transposed = 0;
  athread_get(PE_MODE, t_ip2_weight_transposed, ldm->t_ip2_weight_transposed_ldm, 640, (void *)&ldm->reply_ip2_weight_transposed, 0, 0, 0);
  /* get ip2_bias[0 .. +10]: ip2_bias before the first loop */
  ldm->reply_ip2_bias = 0;
  athread_get(PE_MODE, t_ip2_bias, ldm->t_ip2_bias_ldm, 40, (void *)&ldm->reply_ip2_bias, 0, 0, 0);
  dma_wait(&ldm->reply_relu1, 1);
  dma_wait(&ldm->reply_ip2_weight_transposed, 1);
  dma_wait(&ldm->reply_ip2_bias, 1);
  /* initialisation of AB */
  for (int i = 0; i < 10; i++) ((float *)ldm->t_AB_ldm)[i] = 0.0f;
  {
    floatv4 acc00, acc01, acc02;
    simd_load(acc00, &ldm->t_AB_ldm[0][0]);
    simd_load(acc01, &ldm->t_AB_ldm[0][4]);
    simd_loadu(acc02, &ldm->t_AB_ldm[0][6]);
    for (int ki = 0; ki < 16; ki++) {
      floatv4 a_;
      floatv4 b0_, b1_, b2_;
      simd_loade(a_, &ldm->t_relu1_ldm[0][ki]);
      simd_loadu(b0_, &ldm->t_ip2_weight_transposed_ldm[ki][0]);
      simd_loadu(b1_, &ldm->t_ip2_weight_transposed_ldm[ki][4]);
      simd_loadu(b2_, &ldm->t_ip2_weight_transposed_ldm[ki][6]);
      acc00 = simd_vmas(a_, b0_, acc00);
      acc01 = simd_vmas(a_, b1_, acc01);
      acc02 = simd_vmas(a_, b2_, acc02);
    }
    simd_store(acc00, &ldm->t_AB_ldm[0][0]);
    simd_store(acc01, &ldm->t_AB_ldm[0][4]);
    simd_storeu(acc02, &ldm->t_AB_ldm[0][6]);
  }
  for (int yi = 0; yi < 10; yi++) {
    ldm->t_ip2_ldm[0][yi] = ldm->t_AB_ldm[0][yi] + ldm->t_ip2_bias_ldm[yi];
  }
  /* put ip2[0 .. +1][0 .. +10]: ip2 after the last loop */
  ldm->reply_ip2 = 0;
  athread_put(PE_MODE, ldm->t_ip2_ldm, t_ip2, 40, (void *)&ldm->reply_ip2, 0, 0);
  dma_wait(&ldm->reply_ip2, 1);
}
