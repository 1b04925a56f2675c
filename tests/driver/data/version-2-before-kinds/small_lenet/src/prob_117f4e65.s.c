/*
 * prob_117f4e65: compute-core function of layer layer_prob
 *
 *   input ip2 f32[1,10]
 *   output prob f32[1,10]
 *   intermediate M f32[1]
 *   intermediate S f32[1]
 *   prob_max: M[i0<1] = max_{r0<10} ip2[i0, r0]
 *   prob_sum: S[i0<1] = sum_{r0<10} exp((ip2[i0, r0] - M[i0]))
 *   prob_normalize: prob[i0<1, i1<10] = (exp((ip2[i0, i1] - M[i0])) / S[i0])
 *
 * cores    5: i1 in 5 parts
 * buffers  t_ip2_ldm of ip2: [1,10], 40 bytes at 0
 *          t_M_ldm of M: [1], 4 bytes at 64
 *          t_ip2_2_ldm of ip2: [1,10], 40 bytes at 96
 *          t_S_ldm of S: [1], 4 bytes at 160
 *          t_ip2_3_ldm of ip2: [1,2], 8 bytes at 192
 *          t_prob_ldm of prob: [1,2], 8 bytes at 224
 * LDM      256 bytes of buffers
 * loops    none
 * DMA      get ip2 outside all loops
 *          get ip2 outside all loops
 *          get ip2 outside all loops
 *          put prob outside all loops
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slave.h"
#include "dma.h"
#include "simd.h"
#include "layers_mix.h"
#include "sw_rt.h"

struct prob_117f4e65_ldm {
  float t_ip2_ldm[1][10];  /* ip2: 40 bytes at 0 */
  char gap0_[24];
  float t_M_ldm[1];  /* M: 4 bytes at 64 */
  char gap1_[28];
  float t_ip2_2_ldm[1][10];  /* ip2: 40 bytes at 96 */
  char gap2_[24];
  float t_S_ldm[1];  /* S: 4 bytes at 160 */
  char gap3_[28];
  float t_ip2_3_ldm[1][2];  /* ip2: 8 bytes at 192 */
  char gap4_[24];
  float t_prob_ldm[1][2];  /* prob: 8 bytes at 224 */
  struct prob_117f4e65_para para;
  volatile unsigned reply_para, reply_ip2, reply_ip2_2, reply_ip2_3, reply_prob;
};
SW_CHECK(prob_117f4e65_t_ip2_ldm_is_in_place, offsetof(struct prob_117f4e65_ldm, t_ip2_ldm) == 0);
SW_CHECK(prob_117f4e65_t_M_ldm_is_in_place, offsetof(struct prob_117f4e65_ldm, t_M_ldm) == 64);
SW_CHECK(prob_117f4e65_t_ip2_2_ldm_is_in_place, offsetof(struct prob_117f4e65_ldm, t_ip2_2_ldm) == 96);
SW_CHECK(prob_117f4e65_t_S_ldm_is_in_place, offsetof(struct prob_117f4e65_ldm, t_S_ldm) == 160);
SW_CHECK(prob_117f4e65_t_ip2_3_ldm_is_in_place, offsetof(struct prob_117f4e65_ldm, t_ip2_3_ldm) == 192);
SW_CHECK(prob_117f4e65_t_prob_ldm_is_in_place, offsetof(struct prob_117f4e65_ldm, t_prob_ldm) == 224);
SW_CHECK(prob_117f4e65_buffers_fit, 232 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(prob_117f4e65_all_fits, sizeof(struct prob_117f4e65_ldm) <= SW_ARENA_BYTES);

void prob_117f4e65(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 5) return;
  struct prob_117f4e65_ldm *ldm = LDM_OF(struct prob_117f4e65_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *t_ip2 = ldm->para.t_ip2;
  float *t_prob = ldm->para.t_prob;

  const int i1_core = core;
  const int i1_at = 2 * i1_core;
  /* get ip2[0 .. +1][0 .. +10]: ip2 before the first loop */
  ldm->reply_ip2 = 0;
  athread_get(PE_MODE, t_ip2, ldm->t_ip2_ldm, 40, (void *)&ldm->reply_ip2, 0, 0, 0);
  /* get ip2[0 .. +1][0 .. +10]: ip2_2 before the first loop */
  ldm->reply_ip2_2 = 0;
  athread_get(PE_MODE, t_ip2, ldm->t_ip2_2_ldm, 40, (void *)&ldm->reply_ip2_2, 0, 0, 0);
  /* get ip2[0 .. +1][i1_at .. +2]: ip2_3 before the first loop */
  ldm->reply_ip2_3 = 0;
  athread_get(PE_MODE, t_ip2 + i1_at, ldm->t_ip2_3_ldm, 8, (void *)&ldm->reply_ip2_3, 0, 0, 0);
  dma_wait(&ldm->reply_ip2, 1);
  dma_wait(&ldm->reply_ip2_2, 1);
  dma_wait(&ldm->reply_ip2_3, 1);
  /* initialisation of M */
  for (int i = 0; i < 1; i++) ((float *)ldm->t_M_ldm)[i] = (-INFINITY);
  {
    float acc_ = ldm->t_M_ldm[0];
    for (int r0i = 0; r0i < 10; r0i++) {
      acc_ = sw_max_float(acc_, ldm->t_ip2_ldm[0][r0i]);
    }
    ldm->t_M_ldm[0] = acc_;
  }
  /* initialisation of S */
  for (int i = 0; i < 1; i++) ((float *)ldm->t_S_ldm)[i] = 0.0f;
  {
    float acc_ = ldm->t_S_ldm[0];
    for (int r0i = 0; r0i < 10; r0i++) {
      acc_ += expf((ldm->t_ip2_2_ldm[0][r0i] - ldm->t_M_ldm[0]));
    }
    ldm->t_S_ldm[0] = acc_;
  }
  for (int i1i = 0; i1i < 2; i1i++) {
    ldm->t_prob_ldm[0][i1i] = expf((ldm->t_ip2_3_ldm[0][i1i] - ldm->t_M_ldm[0])) / ldm->t_S_ldm[0];
  }
  /* put prob[0 .. +1][i1_at .. +2]: prob after the last loop */
  ldm->reply_prob = 0;
  athread_put(PE_MODE, ldm->t_prob_ldm, t_prob + i1_at, 8, (void *)&ldm->reply_prob, 0, 0);
  dma_wait(&ldm->reply_prob, 1);
}
