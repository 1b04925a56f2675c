/*
 * conv_5x5_3cf51e64: compute-core function of layer layer_conv_5x5
 *
 *   input relu_5x5_reduce f32[1,4,8,8]
 *   constant conv_5x5_weight f32[4,4,3,3]
 *   constant conv_5x5_bias f32[4]
 *   intermediate conv_5x5 f32[1,4,8,8]
 *   output relu_5x5 f32[1,4,8,8]
 *   conv_5x5: conv_5x5[n<1, ff<4, yy<8, xx<8] = sum_{rc<4, ry<3, rx<3} (relu_5x5_reduce[n, rc, yy + ry - 1, xx + rx - 1 else 0] * conv_5x5_weight[ff, rc, ry, rx])
 *     finish (acc + conv_5x5_bias[ff])
 *   relu_5x5: relu_5x5[n<1, ff<4, yy<8, xx<8] = max(conv_5x5[n, ff, yy, xx], 0.0)
 *
 * cores    64: ff in 4 parts, yy in 8 parts, xx in 2 parts
 * buffers  relu_5x5_reduce_ldm of relu_5x5_reduce: [1,4,3,6], 288 bytes at 0
 *          conv_5x5_weight_ldm of conv_5x5_weight: [1,4,3,3], 144 bytes at 288
 *          conv_5x5_bias_ldm of conv_5x5_bias: [1], 4 bytes at 448
 *          conv_5x5_ldm of conv_5x5: [1,1,1,4], 16 bytes at 480
 *          relu_5x5_ldm of relu_5x5: [1,1,1,4], 16 bytes at 480
 * LDM      512 bytes of buffers
 * loops    none
 * DMA      get relu_5x5_reduce outside all loops
 *          get conv_5x5_weight outside all loops
 *          get conv_5x5_bias outside all loops
 *          put relu_5x5 outside all loops
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slave.h"
#include "dma.h"
#include "simd.h"
#include "layers_mix.h"
#include "sw_rt.h"

struct conv_5x5_3cf51e64_ldm {
  float relu_5x5_reduce_ldm[1][4][3][6];  /* relu_5x5_reduce: 288 bytes at 0 */
  float conv_5x5_weight_ldm[1][4][3][3];  /* conv_5x5_weight: 144 bytes at 288 */
  char gap0_[16];
  float conv_5x5_bias_ldm[1];  /* conv_5x5_bias: 4 bytes at 448 */
  char gap1_[28];
  union {
    float conv_5x5_ldm[1][1][1][4];  /* conv_5x5: 16 bytes at 480 */
    float relu_5x5_ldm[1][1][1][4];  /* relu_5x5: 16 bytes at 480 */
  };
  struct conv_5x5_3cf51e64_para para;
  volatile unsigned reply_para, reply_relu_5x5_reduce, reply_conv_5x5_weight, reply_conv_5x5_bias, reply_relu_5x5;
};
SW_CHECK(conv_5x5_3cf51e64_relu_5x5_reduce_ldm_is_in_place, offsetof(struct conv_5x5_3cf51e64_ldm, relu_5x5_reduce_ldm) == 0);
SW_CHECK(conv_5x5_3cf51e64_conv_5x5_weight_ldm_is_in_place, offsetof(struct conv_5x5_3cf51e64_ldm, conv_5x5_weight_ldm) == 288);
SW_CHECK(conv_5x5_3cf51e64_conv_5x5_bias_ldm_is_in_place, offsetof(struct conv_5x5_3cf51e64_ldm, conv_5x5_bias_ldm) == 448);
SW_CHECK(conv_5x5_3cf51e64_conv_5x5_ldm_is_in_place, offsetof(struct conv_5x5_3cf51e64_ldm, conv_5x5_ldm) == 480);
SW_CHECK(conv_5x5_3cf51e64_relu_5x5_ldm_is_in_place, offsetof(struct conv_5x5_3cf51e64_ldm, relu_5x5_ldm) == 480);
SW_CHECK(conv_5x5_3cf51e64_buffers_fit, 496 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(conv_5x5_3cf51e64_all_fits, sizeof(struct conv_5x5_3cf51e64_ldm) <= SW_ARENA_BYTES);

void conv_5x5_3cf51e64(void *arg) {
  const int core = athread_get_id(-1);
  struct conv_5x5_3cf51e64_ldm *ldm = LDM_OF(struct conv_5x5_3cf51e64_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *relu_5x5_reduce = ldm->para.relu_5x5_reduce;
  float *conv_5x5_weight = ldm->para.conv_5x5_weight;
  float *conv_5x5_bias = ldm->para.conv_5x5_bias;
  float *relu_5x5 = ldm->para.relu_5x5;

  const int ff_core = core / 16;
  const int yy_core = core / 2 % 8;
  const int xx_core = core % 2;
  int issued_relu_5x5_reduce = 0;
  const int xx_at = 4 * xx_core;
  const int relu_5x5_reduce_2_at = sw_max(yy_core - 1, 0);
  const int relu_5x5_reduce_2_n = sw_min(yy_core + 1, 7) + 1 - sw_max(yy_core - 1, 0);
  const int relu_5x5_reduce_3_at = sw_max(xx_at - 1, 0);
  const int relu_5x5_reduce_3_n = sw_min(xx_at + 4, 7) + 1 - sw_max(xx_at - 1, 0);
  if (1 - yy_core > 0 || yy_core - 6 > 0 || 1 - xx_at > 0 || xx_at - 3 > 0) {
    /* padding of relu_5x5_reduce */
    for (int i1 = 0; i1 < 4; i1++) {
      for (int i = 0; i < 6 * sw_max(0, 1 - yy_core); i++) ((float *)ldm->relu_5x5_reduce_ldm)[18 * i1 + i] = 0.0f;
      for (int i = 6 * sw_min(3, 9 - yy_core); i < 18; i++) ((float *)ldm->relu_5x5_reduce_ldm)[18 * i1 + i] = 0.0f;
      for (int i2 = sw_max(0, 1 - yy_core); i2 < sw_min(3, 9 - yy_core); i2++) {
        for (int i = 0; i < sw_max(0, 1 - xx_at); i++) ((float *)ldm->relu_5x5_reduce_ldm)[18 * i1 + 6 * i2 + i] = 0.0f;
        for (int i = sw_min(6, 9 - xx_at); i < 6; i++) ((float *)ldm->relu_5x5_reduce_ldm)[18 * i1 + 6 * i2 + i] = 0.0f;
      }
    }
  }
  /* get relu_5x5_reduce[0 .. +1][0 .. +4][relu_5x5_reduce_2_at .. +relu_5x5_reduce_2_n][relu_5x5_reduce_3_at .. +relu_5x5_reduce_3_n]: relu_5x5_reduce before the first loop */
  ldm->reply_relu_5x5_reduce = 0;
  issued_relu_5x5_reduce = 0;
  if (relu_5x5_reduce_2_n > 0) {
    if (relu_5x5_reduce_3_n == 6) {
      issued_relu_5x5_reduce = 4;
      for (int i1_ = 0; i1_ < 4; i1_++) {
        athread_get(PE_MODE, relu_5x5_reduce + 8 * relu_5x5_reduce_2_at + relu_5x5_reduce_3_at + 64 * i1_, &ldm->relu_5x5_reduce_ldm[0][i1_][relu_5x5_reduce_2_at + 1 - yy_core][relu_5x5_reduce_3_at + 1 - xx_at], 24 * relu_5x5_reduce_2_n, (void *)&ldm->reply_relu_5x5_reduce, 0, 8, 24);
      }
    } else {
      /* a shorter tile: row by row */
      issued_relu_5x5_reduce = 4 * relu_5x5_reduce_2_n;
      for (int i1_ = 0; i1_ < 4; i1_++) {
        for (int i2_ = 0; i2_ < relu_5x5_reduce_2_n; i2_++) {
          athread_get(PE_MODE, relu_5x5_reduce + 8 * relu_5x5_reduce_2_at + relu_5x5_reduce_3_at + 64 * i1_ + 8 * i2_, &ldm->relu_5x5_reduce_ldm[0][i1_][relu_5x5_reduce_2_at + i2_ + 1 - yy_core][relu_5x5_reduce_3_at + 1 - xx_at], 4 * relu_5x5_reduce_3_n, (void *)&ldm->reply_relu_5x5_reduce, 0, 0, 0);
        }
      }
    }
  }
  /* get conv_5x5_weight[ff_core .. +1][0 .. +4][0 .. +3][0 .. +3]: conv_5x5_weight before the first loop */
  ldm->reply_conv_5x5_weight = 0;
  athread_get(PE_MODE, conv_5x5_weight + 36 * ff_core, ldm->conv_5x5_weight_ldm, 144, (void *)&ldm->reply_conv_5x5_weight, 0, 0, 0);
  /* get conv_5x5_bias[ff_core .. +1]: conv_5x5_bias before the first loop */
  ldm->reply_conv_5x5_bias = 0;
  athread_get(PE_MODE, conv_5x5_bias + ff_core, ldm->conv_5x5_bias_ldm, 4, (void *)&ldm->reply_conv_5x5_bias, 0, 0, 0);
  dma_wait(&ldm->reply_relu_5x5_reduce, issued_relu_5x5_reduce);
  dma_wait(&ldm->reply_conv_5x5_weight, 1);
  dma_wait(&ldm->reply_conv_5x5_bias, 1);
  /* initialisation of conv_5x5 */
  for (int i = 0; i < 4; i++) ((float *)ldm->conv_5x5_ldm)[i] = 0.0f;
  {
    floatv4 acc00;
    simd_load(acc00, &ldm->conv_5x5_ldm[0][0][0][0]);
    for (int rci = 0; rci < 4; rci++) {
      for (int ryi = 0; ryi < 3; ryi++) {
        for (int rxi = 0; rxi < 3; rxi++) {
          floatv4 a0_;
          floatv4 b_;
          simd_loadu(a0_, &ldm->relu_5x5_reduce_ldm[0][rci][ryi][rxi]);
          simd_loade(b_, &ldm->conv_5x5_weight_ldm[0][rci][ryi][rxi]);
          acc00 = simd_vmas(a0_, b_, acc00);
        }
      }
    }
    simd_store(acc00, &ldm->conv_5x5_ldm[0][0][0][0]);
  }
  for (int xxi = 0; xxi < 4; xxi++) {
    ldm->conv_5x5_ldm[0][0][0][xxi] = ldm->conv_5x5_ldm[0][0][0][xxi] + ldm->conv_5x5_bias_ldm[0];
  }
  for (int xxi = 0; xxi < 4; xxi++) {
    ldm->relu_5x5_ldm[0][0][0][xxi] = sw_max_float(ldm->conv_5x5_ldm[0][0][0][xxi], 0.0f);
  }
  /* put relu_5x5[0 .. +1][ff_core .. +1][yy_core .. +1][xx_at .. +4]: relu_5x5 after the last loop */
  ldm->reply_relu_5x5 = 0;
  athread_put(PE_MODE, ldm->relu_5x5_ldm, relu_5x5 + 64 * ff_core + 8 * yy_core + xx_at, 16, (void *)&ldm->reply_relu_5x5, 0, 0);
  dma_wait(&ldm->reply_relu_5x5, 1);
}
