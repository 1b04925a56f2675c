/*
 * pool2_38e9de9b: compute-core function of layer layer_pool2
 *
 *   input pool1 f32[1,2,6,6,4]
 *   constant conv2_weight f32[8,8,3,3]
 *   constant conv2_bias f32[8]
 *   intermediate conv2 f32[1,8,4,4]
 *   output pool2 f32[1,8,2,2]
 *   conv2: conv2[n<1, ff<8, yy<4, xx<4] = sum_{rc_block<2, rc_lane<4, ry<3, rx<3} (pool1[n, rc_block, yy + ry, xx + rx, rc_lane] * conv2_weight[ff, 4*rc_block + rc_lane, ry, rx])
 *     finish (acc + conv2_bias[ff])
 *   pool2: pool2[n_2<1, c<8, yy_2<2, xx_2<2] = max_{ry_2<2, rx_2<2} conv2[n_2, c, 2*yy_2 + ry_2, 2*xx_2 + rx_2]
 *
 * cores    16: yy_2 in 2 parts, c in 8 parts
 * buffers  t_pool1_ldm of pool1: [1,2,4,6,4], 768 bytes at 0
 *          t_conv2_weight_ldm of conv2_weight: [1,8,3,3], 288 bytes at 768
 *          t_conv2_bias_ldm of conv2_bias: [1], 4 bytes at 1056
 *          t_conv2_ldm of conv2: [1,1,2,4], 32 bytes at 1088
 *          t_pool2_ldm of pool2: [1,1,1,2], 8 bytes at 1120
 * LDM      1152 bytes of buffers
 * loops    none
 * DMA      get pool1 outside all loops
 *          get conv2_weight outside all loops
 *          get conv2_bias outside all loops
 *          put pool2 outside all loops
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slave.h"
#include "dma.h"
#include "simd.h"
#include "layers_mix.h"
#include "sw_rt.h"

struct pool2_38e9de9b_ldm {
  float t_pool1_ldm[1][2][4][6][4];  /* pool1: 768 bytes at 0 */
  float t_conv2_weight_ldm[1][8][3][3];  /* conv2_weight: 288 bytes at 768 */
  float t_conv2_bias_ldm[1];  /* conv2_bias: 4 bytes at 1056 */
  char gap0_[28];
  float t_conv2_ldm[1][1][2][4];  /* conv2: 32 bytes at 1088 */
  float t_pool2_ldm[1][1][1][2];  /* pool2: 8 bytes at 1120 */
  struct pool2_38e9de9b_para para;
  volatile unsigned reply_para, reply_pool1, reply_conv2_weight, reply_conv2_bias, reply_pool2;
};
SW_CHECK(pool2_38e9de9b_t_pool1_ldm_is_in_place, offsetof(struct pool2_38e9de9b_ldm, t_pool1_ldm) == 0);
SW_CHECK(pool2_38e9de9b_t_conv2_weight_ldm_is_in_place, offsetof(struct pool2_38e9de9b_ldm, t_conv2_weight_ldm) == 768);
SW_CHECK(pool2_38e9de9b_t_conv2_bias_ldm_is_in_place, offsetof(struct pool2_38e9de9b_ldm, t_conv2_bias_ldm) == 1056);
SW_CHECK(pool2_38e9de9b_t_conv2_ldm_is_in_place, offsetof(struct pool2_38e9de9b_ldm, t_conv2_ldm) == 1088);
SW_CHECK(pool2_38e9de9b_t_pool2_ldm_is_in_place, offsetof(struct pool2_38e9de9b_ldm, t_pool2_ldm) == 1120);
SW_CHECK(pool2_38e9de9b_buffers_fit, 1128 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(pool2_38e9de9b_all_fits, sizeof(struct pool2_38e9de9b_ldm) <= SW_ARENA_BYTES);

void pool2_38e9de9b(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 16) return;
  struct pool2_38e9de9b_ldm *ldm = LDM_OF(struct pool2_38e9de9b_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *t_pool1 = ldm->para.t_pool1;
  float *t_conv2_weight = ldm->para.t_conv2_weight;
  float *t_conv2_bias = ldm->para.t_conv2_bias;
  float *t_pool2 = ldm->para.t_pool2;

  const int yy_2_core = core / 8;
  const int c_core = core % 8;
  const int t_pool1_2_at = 2 * yy_2_core;
  /* get pool1[0 .. +1][0 .. +2][t_pool1_2_at .. +4][0 .. +6][0 .. +4]: pool1 before the first loop */
  athread_syn(ROW_SCOPE, 0xff);
  if (core % 8 == 0) {
    ldm->reply_pool1 = 0;
    athread_get(BCAST_MODE, t_pool1 + 24 * t_pool1_2_at, &ldm->t_pool1_ldm[0][0][t_pool1_2_at - 2 * yy_2_core][0][0], 768, (void *)&ldm->reply_pool1, (char)(1 << core / 8), 192, 384);
  }
  /* get conv2_weight[c_core .. +1][0 .. +8][0 .. +3][0 .. +3]: conv2_weight before the first loop */
  ldm->reply_conv2_weight = 0;
  athread_get(PE_MODE, t_conv2_weight + 72 * c_core, ldm->t_conv2_weight_ldm, 288, (void *)&ldm->reply_conv2_weight, 0, 0, 0);
  /* get conv2_bias[c_core .. +1]: conv2_bias before the first loop */
  ldm->reply_conv2_bias = 0;
  athread_get(PE_MODE, t_conv2_bias + c_core, ldm->t_conv2_bias_ldm, 4, (void *)&ldm->reply_conv2_bias, 0, 0, 0);
  if (core % 8 == 0) {
    dma_wait(&ldm->reply_pool1, 1);
  }
  athread_syn(ROW_SCOPE, 0xff);
  dma_wait(&ldm->reply_conv2_weight, 1);
  dma_wait(&ldm->reply_conv2_bias, 1);
  const int t_conv2_yy_at = 2 * yy_2_core;
  /* initialisation of conv2 */
  {
    floatv4 v_ = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int i = 0; i < 8; i += 4) simd_store(v_, &((float *)ldm->t_conv2_ldm)[i]);
  }
  {
    floatv4 acc00;
    floatv4 acc10;
    simd_load(acc00, &ldm->t_conv2_ldm[0][0][0][0]);
    simd_load(acc10, &ldm->t_conv2_ldm[0][0][1][0]);
    for (int rc_blocki = 0; rc_blocki < 2; rc_blocki++) {
      for (int rc_lanei = 0; rc_lanei < 4; rc_lanei++) {
        for (int ryi = 0; ryi < 3; ryi++) {
          for (int rxi = 0; rxi < 3; rxi++) {
            floatv4 a0_0_, a1_0_;
            floatv4 b_;
            simd_loade(b_, &ldm->t_conv2_weight_ldm[0][4 * rc_blocki + rc_lanei][ryi][rxi]);
            a0_0_ = simd_set_floatv4(ldm->t_pool1_ldm[0][rc_blocki][t_conv2_yy_at + ryi - 2 * yy_2_core][rxi][rc_lanei], ldm->t_pool1_ldm[0][rc_blocki][t_conv2_yy_at + ryi - 2 * yy_2_core][rxi + 1][rc_lanei], ldm->t_pool1_ldm[0][rc_blocki][t_conv2_yy_at + ryi - 2 * yy_2_core][rxi + 2][rc_lanei], ldm->t_pool1_ldm[0][rc_blocki][t_conv2_yy_at + ryi - 2 * yy_2_core][rxi + 3][rc_lanei]);
            acc00 = simd_vmas(a0_0_, b_, acc00);
            a1_0_ = simd_set_floatv4(ldm->t_pool1_ldm[0][rc_blocki][t_conv2_yy_at + ryi + 1 - 2 * yy_2_core][rxi][rc_lanei], ldm->t_pool1_ldm[0][rc_blocki][t_conv2_yy_at + ryi + 1 - 2 * yy_2_core][rxi + 1][rc_lanei], ldm->t_pool1_ldm[0][rc_blocki][t_conv2_yy_at + ryi + 1 - 2 * yy_2_core][rxi + 2][rc_lanei], ldm->t_pool1_ldm[0][rc_blocki][t_conv2_yy_at + ryi + 1 - 2 * yy_2_core][rxi + 3][rc_lanei]);
            acc10 = simd_vmas(a1_0_, b_, acc10);
          }
        }
      }
    }
    simd_store(acc00, &ldm->t_conv2_ldm[0][0][0][0]);
    simd_store(acc10, &ldm->t_conv2_ldm[0][0][1][0]);
  }
  {
    floatv4 v2_;
    simd_loade(v2_, &ldm->t_conv2_bias_ldm[0]);
    for (int yyi = 0; yyi < 2; yyi++) {
      floatv4 acc0_;
      simd_load(acc0_, &ldm->t_conv2_ldm[0][0][yyi][0]);
      floatv4 t0_ = simd_vadds(acc0_, v2_);
      simd_store(t0_, &ldm->t_conv2_ldm[0][0][yyi][0]);
    }
  }
  /* initialisation of pool2 */
  for (int i = 0; i < 2; i++) ((float *)ldm->t_pool2_ldm)[i] = (-INFINITY);
  for (int xx_2i = 0; xx_2i < 2; xx_2i++) {
    float acc_ = ldm->t_pool2_ldm[0][0][0][xx_2i];
    for (int ry_2i = 0; ry_2i < 2; ry_2i++) {
      for (int rx_2i = 0; rx_2i < 2; rx_2i++) {
        acc_ = sw_max_float(acc_, ldm->t_conv2_ldm[0][0][2 * yy_2_core + ry_2i - t_conv2_yy_at][2 * xx_2i + rx_2i]);
      }
    }
    ldm->t_pool2_ldm[0][0][0][xx_2i] = acc_;
  }
  /* put pool2[0 .. +1][c_core .. +1][yy_2_core .. +1][0 .. +2]: pool2 after the last loop */
  ldm->reply_pool2 = 0;
  athread_put(PE_MODE, ldm->t_pool2_ldm, t_pool2 + 2 * yy_2_core + 4 * c_core, 8, (void *)&ldm->reply_pool2, 0, 0);
  dma_wait(&ldm->reply_pool2, 1);
}
