/*
 * conv_3x3_8f7d6bea: compute-core function of layer layer_conv_3x3
 *
 *   input relu_3x3_reduce f32[1,4,8,8]
 *   constant conv_3x3_weight f32[8,4,3,3]
 *   constant conv_3x3_bias f32[8]
 *   intermediate conv_3x3 f32[1,8,8,8]
 *   output relu_3x3 f32[1,8,8,8]
 *   conv_3x3: conv_3x3[n<1, ff<8, yy<8, xx<8] = sum_{rc<4, ry<3, rx<3} (relu_3x3_reduce[n, rc, yy + ry - 1, xx + rx - 1 else 0] * conv_3x3_weight[ff, rc, ry, rx])
 *     finish (acc + conv_3x3_bias[ff])
 *   relu_3x3: relu_3x3[n<1, ff<8, yy<8, xx<8] = max(conv_3x3[n, ff, yy, xx], 0.0)
 *
 * cores    64: ff in 8 parts, yy in 8 parts
 * buffers  relu_3x3_reduce_ldm of relu_3x3_reduce: [1,4,3,10], 480 bytes at 0
 *          conv_3x3_weight_ldm of conv_3x3_weight: [1,4,3,3], 144 bytes at 480
 *          conv_3x3_bias_ldm of conv_3x3_bias: [1], 4 bytes at 640
 *          conv_3x3_ldm of conv_3x3: [1,1,1,8], 32 bytes at 672
 *          relu_3x3_ldm of relu_3x3: [1,1,1,8], 32 bytes at 672
 * LDM      704 bytes of buffers
 * loops    none
 * DMA      get relu_3x3_reduce outside all loops
 *          get conv_3x3_weight outside all loops
 *          get conv_3x3_bias outside all loops
 *          put relu_3x3 outside all loops
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slave.h"
#include "dma.h"
#include "simd.h"
#include "layers_mix.h"
#include "sw_rt.h"

struct conv_3x3_8f7d6bea_ldm {
  float relu_3x3_reduce_ldm[1][4][3][10];  /* relu_3x3_reduce: 480 bytes at 0 */
  float conv_3x3_weight_ldm[1][4][3][3];  /* conv_3x3_weight: 144 bytes at 480 */
  char gap0_[16];
  float conv_3x3_bias_ldm[1];  /* conv_3x3_bias: 4 bytes at 640 */
  char gap1_[28];
  union {
    float conv_3x3_ldm[1][1][1][8];  /* conv_3x3: 32 bytes at 672 */
    float relu_3x3_ldm[1][1][1][8];  /* relu_3x3: 32 bytes at 672 */
  };
  struct conv_3x3_8f7d6bea_para para;
  volatile unsigned reply_para, reply_relu_3x3_reduce, reply_conv_3x3_weight, reply_conv_3x3_bias, reply_relu_3x3;
};
SW_CHECK(conv_3x3_8f7d6bea_relu_3x3_reduce_ldm_is_in_place, offsetof(struct conv_3x3_8f7d6bea_ldm, relu_3x3_reduce_ldm) == 0);
SW_CHECK(conv_3x3_8f7d6bea_conv_3x3_weight_ldm_is_in_place, offsetof(struct conv_3x3_8f7d6bea_ldm, conv_3x3_weight_ldm) == 480);
SW_CHECK(conv_3x3_8f7d6bea_conv_3x3_bias_ldm_is_in_place, offsetof(struct conv_3x3_8f7d6bea_ldm, conv_3x3_bias_ldm) == 640);
SW_CHECK(conv_3x3_8f7d6bea_conv_3x3_ldm_is_in_place, offsetof(struct conv_3x3_8f7d6bea_ldm, conv_3x3_ldm) == 672);
SW_CHECK(conv_3x3_8f7d6bea_relu_3x3_ldm_is_in_place, offsetof(struct conv_3x3_8f7d6bea_ldm, relu_3x3_ldm) == 672);
SW_CHECK(conv_3x3_8f7d6bea_buffers_fit, 704 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(conv_3x3_8f7d6bea_all_fits, sizeof(struct conv_3x3_8f7d6bea_ldm) <= SW_ARENA_BYTES);

void conv_3x3_8f7d6bea(void *arg) {
  const int core = athread_get_id(-1);
  struct conv_3x3_8f7d6bea_ldm *ldm = LDM_OF(struct conv_3x3_8f7d6bea_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *relu_3x3_reduce = ldm->para.relu_3x3_reduce;
  float *conv_3x3_weight = ldm->para.conv_3x3_weight;
  float *conv_3x3_bias = ldm->para.conv_3x3_bias;
  float *relu_3x3 = ldm->para.relu_3x3;

  const int ff_core = core / 8;
  const int yy_core = core % 8;
  int issued_relu_3x3_reduce = 0;
  const int relu_3x3_reduce_2_at = sw_max(yy_core - 1, 0);
  const int relu_3x3_reduce_2_n = sw_min(yy_core + 1, 7) + 1 - sw_max(yy_core - 1, 0);
  /* padding of relu_3x3_reduce */
  for (int i1 = 0; i1 < 4; i1++) {
    for (int i = 0; i < 10 * sw_max(0, 1 - yy_core); i++) ((float *)ldm->relu_3x3_reduce_ldm)[30 * i1 + i] = 0.0f;
    for (int i = 10 * sw_min(3, 9 - yy_core); i < 30; i++) ((float *)ldm->relu_3x3_reduce_ldm)[30 * i1 + i] = 0.0f;
    for (int i2 = sw_max(0, 1 - yy_core); i2 < sw_min(3, 9 - yy_core); i2++) {
      for (int i = 0; i < 1; i++) ((float *)ldm->relu_3x3_reduce_ldm)[30 * i1 + 10 * i2 + i] = 0.0f;
      for (int i = 9; i < 10; i++) ((float *)ldm->relu_3x3_reduce_ldm)[30 * i1 + 10 * i2 + i] = 0.0f;
    }
  }
  /* get relu_3x3_reduce[0 .. +1][0 .. +4][relu_3x3_reduce_2_at .. +relu_3x3_reduce_2_n][0 .. +8]: relu_3x3_reduce before the first loop */
  ldm->reply_relu_3x3_reduce = 0;
  issued_relu_3x3_reduce = 0;
  if (relu_3x3_reduce_2_n > 0) {
    issued_relu_3x3_reduce = 4 * relu_3x3_reduce_2_n;
    for (int i1_ = 0; i1_ < 4; i1_++) {
      for (int i2_ = 0; i2_ < relu_3x3_reduce_2_n; i2_++) {
        athread_get(PE_MODE, relu_3x3_reduce + 8 * relu_3x3_reduce_2_at + 64 * i1_ + 8 * i2_, &ldm->relu_3x3_reduce_ldm[0][i1_][relu_3x3_reduce_2_at + i2_ + 1 - yy_core][1], 32, (void *)&ldm->reply_relu_3x3_reduce, 0, 0, 0);
      }
    }
  }
  /* get conv_3x3_weight[ff_core .. +1][0 .. +4][0 .. +3][0 .. +3]: conv_3x3_weight before the first loop */
  ldm->reply_conv_3x3_weight = 0;
  athread_get(PE_MODE, conv_3x3_weight + 36 * ff_core, ldm->conv_3x3_weight_ldm, 144, (void *)&ldm->reply_conv_3x3_weight, 0, 0, 0);
  /* get conv_3x3_bias[ff_core .. +1]: conv_3x3_bias before the first loop */
  ldm->reply_conv_3x3_bias = 0;
  athread_get(PE_MODE, conv_3x3_bias + ff_core, ldm->conv_3x3_bias_ldm, 4, (void *)&ldm->reply_conv_3x3_bias, 0, 0, 0);
  dma_wait(&ldm->reply_relu_3x3_reduce, issued_relu_3x3_reduce);
  dma_wait(&ldm->reply_conv_3x3_weight, 1);
  dma_wait(&ldm->reply_conv_3x3_bias, 1);
  /* initialisation of conv_3x3 */
  for (int i = 0; i < 8; i++) ((float *)ldm->conv_3x3_ldm)[i] = 0.0f;
  {
    floatv4 acc00, acc01;
    simd_load(acc00, &ldm->conv_3x3_ldm[0][0][0][0]);
    simd_load(acc01, &ldm->conv_3x3_ldm[0][0][0][4]);
    for (int rci = 0; rci < 4; rci++) {
      for (int ryi = 0; ryi < 3; ryi++) {
        for (int rxi = 0; rxi < 3; rxi++) {
          floatv4 a0_, a1_;
          floatv4 b_;
          simd_loadu(a0_, &ldm->relu_3x3_reduce_ldm[0][rci][ryi][rxi]);
          simd_loadu(a1_, &ldm->relu_3x3_reduce_ldm[0][rci][ryi][rxi + 4]);
          simd_loade(b_, &ldm->conv_3x3_weight_ldm[0][rci][ryi][rxi]);
          acc00 = simd_vmas(a0_, b_, acc00);
          acc01 = simd_vmas(a1_, b_, acc01);
        }
      }
    }
    simd_store(acc00, &ldm->conv_3x3_ldm[0][0][0][0]);
    simd_store(acc01, &ldm->conv_3x3_ldm[0][0][0][4]);
  }
  for (int xxi = 0; xxi < 8; xxi++) {
    ldm->conv_3x3_ldm[0][0][0][xxi] = ldm->conv_3x3_ldm[0][0][0][xxi] + ldm->conv_3x3_bias_ldm[0];
  }
  for (int xxi = 0; xxi < 8; xxi++) {
    ldm->relu_3x3_ldm[0][0][0][xxi] = sw_max_float(ldm->conv_3x3_ldm[0][0][0][xxi], 0.0f);
  }
  /* put relu_3x3[0 .. +1][ff_core .. +1][yy_core .. +1][0 .. +8]: relu_3x3 after the last loop */
  ldm->reply_relu_3x3 = 0;
  athread_put(PE_MODE, ldm->relu_3x3_ldm, relu_3x3 + 64 * ff_core + 8 * yy_core, 32, (void *)&ldm->reply_relu_3x3, 0, 0);
  dma_wait(&ldm->reply_relu_3x3, 1);
}
