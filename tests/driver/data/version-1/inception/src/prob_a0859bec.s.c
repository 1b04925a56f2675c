/*
 * prob_a0859bec: compute-core function of layer layer_prob
 *
 *   input dense f32[1,10]
 *   output prob f32[1,10]
 *   intermediate M f32[1]
 *   intermediate S f32[1]
 *   prob_max: M[i0<1] = max_{r0<10} dense[i0, r0]
 *   prob_sum: S[i0<1] = sum_{r0<10} exp((dense[i0, r0] - M[i0]))
 *   prob_normalize: prob[i0<1, i1<10] = (exp((dense[i0, i1] - M[i0])) / S[i0])
 *
 * cores    10: i1 in 10 parts
 * buffers  dense_ldm of dense: [1,10], 40 bytes at 0
 *          M_ldm of M: [1], 4 bytes at 64
 *          dense_2_ldm of dense: [1,10], 40 bytes at 96
 *          S_ldm of S: [1], 4 bytes at 160
 *          dense_3_ldm of dense: [1,1], 4 bytes at 192
 *          prob_ldm of prob: [1,1], 4 bytes at 224
 * LDM      256 bytes of buffers
 * loops    none
 * DMA      get dense outside all loops
 *          get dense outside all loops
 *          get dense outside all loops
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

struct prob_a0859bec_ldm {
  float dense_ldm[1][10];  /* dense: 40 bytes at 0 */
  char gap0_[24];
  float M_ldm[1];  /* M: 4 bytes at 64 */
  char gap1_[28];
  float dense_2_ldm[1][10];  /* dense: 40 bytes at 96 */
  char gap2_[24];
  float S_ldm[1];  /* S: 4 bytes at 160 */
  char gap3_[28];
  float dense_3_ldm[1][1];  /* dense: 4 bytes at 192 */
  char gap4_[28];
  float prob_ldm[1][1];  /* prob: 4 bytes at 224 */
  struct prob_a0859bec_para para;
  volatile unsigned reply_para, reply_dense, reply_dense_2, reply_dense_3, reply_prob;
};
SW_CHECK(prob_a0859bec_dense_ldm_is_in_place, offsetof(struct prob_a0859bec_ldm, dense_ldm) == 0);
SW_CHECK(prob_a0859bec_M_ldm_is_in_place, offsetof(struct prob_a0859bec_ldm, M_ldm) == 64);
SW_CHECK(prob_a0859bec_dense_2_ldm_is_in_place, offsetof(struct prob_a0859bec_ldm, dense_2_ldm) == 96);
SW_CHECK(prob_a0859bec_S_ldm_is_in_place, offsetof(struct prob_a0859bec_ldm, S_ldm) == 160);
SW_CHECK(prob_a0859bec_dense_3_ldm_is_in_place, offsetof(struct prob_a0859bec_ldm, dense_3_ldm) == 192);
SW_CHECK(prob_a0859bec_prob_ldm_is_in_place, offsetof(struct prob_a0859bec_ldm, prob_ldm) == 224);
SW_CHECK(prob_a0859bec_buffers_fit, 228 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(prob_a0859bec_all_fits, sizeof(struct prob_a0859bec_ldm) <= SW_ARENA_BYTES);

void prob_a0859bec(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 10) return;
  struct prob_a0859bec_ldm *ldm = LDM_OF(struct prob_a0859bec_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *dense = ldm->para.dense;
  float *prob = ldm->para.prob;

  const int i1_core = core;
  /* get dense[0 .. +1][0 .. +10]: dense before the first loop */
  ldm->reply_dense = 0;
  athread_get(PE_MODE, dense, ldm->dense_ldm, 40, (void *)&ldm->reply_dense, 0, 0, 0);
  /* get dense[0 .. +1][0 .. +10]: dense_2 before the first loop */
  ldm->reply_dense_2 = 0;
  athread_get(PE_MODE, dense, ldm->dense_2_ldm, 40, (void *)&ldm->reply_dense_2, 0, 0, 0);
  /* get dense[0 .. +1][i1_core .. +1]: dense_3 before the first loop */
  ldm->reply_dense_3 = 0;
  athread_get(PE_MODE, dense + i1_core, ldm->dense_3_ldm, 4, (void *)&ldm->reply_dense_3, 0, 0, 0);
  dma_wait(&ldm->reply_dense, 1);
  dma_wait(&ldm->reply_dense_2, 1);
  dma_wait(&ldm->reply_dense_3, 1);
  /* initialisation of M */
  for (int i = 0; i < 1; i++) ((float *)ldm->M_ldm)[i] = (-INFINITY);
  {
    float acc_ = ldm->M_ldm[0];
    for (int r0i = 0; r0i < 10; r0i++) {
      acc_ = sw_max_float(acc_, ldm->dense_ldm[0][r0i]);
    }
    ldm->M_ldm[0] = acc_;
  }
  /* initialisation of S */
  for (int i = 0; i < 1; i++) ((float *)ldm->S_ldm)[i] = 0.0f;
  {
    float acc_ = ldm->S_ldm[0];
    for (int r0i = 0; r0i < 10; r0i++) {
      acc_ += expf((ldm->dense_2_ldm[0][r0i] - ldm->M_ldm[0]));
    }
    ldm->S_ldm[0] = acc_;
  }
  {
    ldm->prob_ldm[0][0] = expf((ldm->dense_3_ldm[0][0] - ldm->M_ldm[0])) / ldm->S_ldm[0];
  }
  /* put prob[0 .. +1][i1_core .. +1]: prob after the last loop */
  ldm->reply_prob = 0;
  athread_put(PE_MODE, ldm->prob_ldm, prob + i1_core, 4, (void *)&ldm->reply_prob, 0, 0);
  dma_wait(&ldm->reply_prob, 1);
}
