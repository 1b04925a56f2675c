/*
 * pool2_b0eaf489: compute-core function of layer layer_pool2
 *
 *   input pool1 f32[1,8,6,6]
 *   constant conv2_weight f32[8,8,3,3]
 *   constant conv2_bias f32[8]
 *   intermediate conv2 f32[1,8,4,4]
 *   output pool2 f32[1,8,2,2]
 *   conv2: conv2[n<1, ff<8, yy<4, xx<4] = sum_{rc<8, ry<3, rx<3} (pool1[n, rc, yy + ry, xx + rx] * conv2_weight[ff, rc, ry, rx])
 *     finish (acc + conv2_bias[ff])
 *   pool2: pool2[n_2<1, c<8, yy_2<2, xx_2<2] = max_{ry_2<2, rx_2<2} conv2[n_2, c, 2*yy_2 + ry_2, 2*xx_2 + rx_2]
 *
 * cores    4: c in 4 parts
 * buffers  t_pool1_ldm of pool1: [1,8,6,6], 1152 bytes at 0
 *          t_conv2_weight_ldm of conv2_weight: [2,8,3,3], 576 bytes at 1152
 *          t_conv2_bias_ldm of conv2_bias: [2], 8 bytes at 1728
 *          t_conv2_ldm of conv2: [1,2,4,4], 128 bytes at 1760
 *          t_pool2_ldm of pool2: [1,2,2,2], 32 bytes at 1888
 * LDM      1920 bytes of buffers
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

struct pool2_b0eaf489_ldm {
  float t_pool1_ldm[1][8][6][6];  /* pool1: 1152 bytes at 0 */
  float t_conv2_weight_ldm[2][8][3][3];  /* conv2_weight: 576 bytes at 1152 */
  float t_conv2_bias_ldm[2];  /* conv2_bias: 8 bytes at 1728 */
  char gap0_[24];
  float t_conv2_ldm[1][2][4][4];  /* conv2: 128 bytes at 1760 */
  float t_pool2_ldm[1][2][2][2];  /* pool2: 32 bytes at 1888 */
  struct pool2_b0eaf489_para para;
  volatile unsigned reply_para, reply_pool1, reply_conv2_weight, reply_conv2_bias, reply_pool2;
};
SW_CHECK(pool2_b0eaf489_t_pool1_ldm_is_in_place, offsetof(struct pool2_b0eaf489_ldm, t_pool1_ldm) == 0);
SW_CHECK(pool2_b0eaf489_t_conv2_weight_ldm_is_in_place, offsetof(struct pool2_b0eaf489_ldm, t_conv2_weight_ldm) == 1152);
SW_CHECK(pool2_b0eaf489_t_conv2_bias_ldm_is_in_place, offsetof(struct pool2_b0eaf489_ldm, t_conv2_bias_ldm) == 1728);
SW_CHECK(pool2_b0eaf489_t_conv2_ldm_is_in_place, offsetof(struct pool2_b0eaf489_ldm, t_conv2_ldm) == 1760);
SW_CHECK(pool2_b0eaf489_t_pool2_ldm_is_in_place, offsetof(struct pool2_b0eaf489_ldm, t_pool2_ldm) == 1888);
SW_CHECK(pool2_b0eaf489_buffers_fit, 1920 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(pool2_b0eaf489_all_fits, sizeof(struct pool2_b0eaf489_ldm) <= SW_ARENA_BYTES);

void pool2_b0eaf489(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 4) return;
  struct pool2_b0eaf489_ldm *ldm = LDM_OF(struct pool2_b0eaf489_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *t_pool1 = ldm->para.t_pool1;
  float *t_conv2_weight = ldm->para.t_conv2_weight;
  float *t_conv2_bias = ldm->para.t_conv2_bias;
  float *t_pool2 = ldm->para.t_pool2;

  const int c_core = core;
  const int c_at = 2 * c_core;
  /* get pool1[0 .. +1][0 .. +8][0 .. +6][0 .. +6]: pool1 before the first loop */
  ldm->reply_pool1 = 0;
  athread_get(PE_MODE, t_pool1, ldm->t_pool1_ldm, 1152, (void *)&ldm->reply_pool1, 0, 0, 0);
  /* get conv2_weight[c_at .. +2][0 .. +8][0 .. +3][0 .. +3]: conv2_weight before the first loop */
  ldm->reply_conv2_weight = 0;
  athread_get(PE_MODE, t_conv2_weight + 72 * c_at, ldm->t_conv2_weight_ldm, 576, (void *)&ldm->reply_conv2_weight, 0, 0, 0);
  /* get conv2_bias[c_at .. +2]: conv2_bias before the first loop */
  ldm->reply_conv2_bias = 0;
  athread_get(PE_MODE, t_conv2_bias + c_at, ldm->t_conv2_bias_ldm, 8, (void *)&ldm->reply_conv2_bias, 0, 0, 0);
  dma_wait(&ldm->reply_pool1, 1);
  dma_wait(&ldm->reply_conv2_weight, 1);
  dma_wait(&ldm->reply_conv2_bias, 1);
  /* initialisation of conv2 */
  for (int i = 0; i < 32; i++) ((float *)ldm->t_conv2_ldm)[i] = 0.0f;
  for (int yyi = 0; yyi < 4; yyi++) {
    {
      floatv4 acc00;
      floatv4 acc10;
      simd_load(acc00, &ldm->t_conv2_ldm[0][0][yyi][0]);
      simd_load(acc10, &ldm->t_conv2_ldm[0][1][yyi][0]);
      for (int rci = 0; rci < 8; rci++) {
        for (int ryi = 0; ryi < 3; ryi++) {
          for (int rxi = 0; rxi < 3; rxi++) {
            floatv4 a0_;
            floatv4 b0_, b1_;
            simd_loadu(a0_, &ldm->t_pool1_ldm[0][rci][yyi + ryi][rxi]);
            simd_loade(b0_, &ldm->t_conv2_weight_ldm[0][rci][ryi][rxi]);
            acc00 = simd_vmas(a0_, b0_, acc00);
            simd_loade(b1_, &ldm->t_conv2_weight_ldm[1][rci][ryi][rxi]);
            acc10 = simd_vmas(a0_, b1_, acc10);
          }
        }
      }
      simd_store(acc00, &ldm->t_conv2_ldm[0][0][yyi][0]);
      simd_store(acc10, &ldm->t_conv2_ldm[0][1][yyi][0]);
    }
  }
  for (int ffi = 0; ffi < 2; ffi++) {
    for (int yyi = 0; yyi < 4; yyi++) {
      for (int xxi = 0; xxi < 4; xxi++) {
        ldm->t_conv2_ldm[0][ffi][yyi][xxi] = ldm->t_conv2_ldm[0][ffi][yyi][xxi] + ldm->t_conv2_bias_ldm[ffi];
      }
    }
  }
  /* initialisation of pool2 */
  for (int i = 0; i < 8; i++) ((float *)ldm->t_pool2_ldm)[i] = (-INFINITY);
  for (int ci = 0; ci < 2; ci++) {
    for (int yy_2i = 0; yy_2i < 2; yy_2i++) {
      for (int xx_2i = 0; xx_2i < 2; xx_2i++) {
        float acc_ = ldm->t_pool2_ldm[0][ci][yy_2i][xx_2i];
        for (int ry_2i = 0; ry_2i < 2; ry_2i++) {
          for (int rx_2i = 0; rx_2i < 2; rx_2i++) {
            acc_ = sw_max_float(acc_, ldm->t_conv2_ldm[0][ci][2 * yy_2i + ry_2i][2 * xx_2i + rx_2i]);
          }
        }
        ldm->t_pool2_ldm[0][ci][yy_2i][xx_2i] = acc_;
      }
    }
  }
  /* put pool2[0 .. +1][c_at .. +2][0 .. +2][0 .. +2]: pool2 after the last loop */
  ldm->reply_pool2 = 0;
  athread_put(PE_MODE, ldm->t_pool2_ldm, t_pool2 + 4 * c_at, 32, (void *)&ldm->reply_pool2, 0, 0);
  dma_wait(&ldm->reply_pool2, 1);
}
