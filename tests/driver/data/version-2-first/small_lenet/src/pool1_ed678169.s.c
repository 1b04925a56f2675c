/*
 * pool1_ed678169: compute-core function of layer layer_pool1
 *
 *   input image f32[1,1,16,16]
 *   constant conv1_weight f32[8,1,5,5]
 *   constant conv1_bias f32[8]
 *   intermediate conv1 f32[1,8,12,12]
 *   output pool1 f32[1,8,6,6]
 *   conv1: conv1[n<1, ff<8, yy<12, xx<12] = sum_{rc<1, ry<5, rx<5} (image[n, rc, yy + ry, xx + rx] * conv1_weight[ff, rc, ry, rx])
 *     finish (acc + conv1_bias[ff])
 *   pool1: pool1[n_2<1, c<8, yy_2<6, xx_2<6] = max_{ry_2<2, rx_2<2} conv1[n_2, c, 2*yy_2 + ry_2, 2*xx_2 + rx_2]
 *
 * cores    16: c in 8 parts, yy_2 in 2 parts
 * buffers  t_image_ldm of image: [1,1,10,16], 640 bytes at 0
 *          t_conv1_weight_ldm of conv1_weight: [1,1,5,5], 100 bytes at 640
 *          t_conv1_bias_ldm of conv1_bias: [1], 4 bytes at 768
 *          t_conv1_ldm of conv1: [1,1,6,12], 288 bytes at 800
 *          t_pool1_ldm of pool1: [1,1,3,6], 72 bytes at 1088
 * LDM      1184 bytes of buffers
 * loops    none
 * DMA      get image outside all loops
 *          get conv1_weight outside all loops
 *          get conv1_bias outside all loops
 *          put pool1 outside all loops
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slave.h"
#include "dma.h"
#include "simd.h"
#include "layers_mix.h"
#include "sw_rt.h"

struct pool1_ed678169_ldm {
  float t_image_ldm[1][1][10][16];  /* image: 640 bytes at 0 */
  float t_conv1_weight_ldm[1][1][5][5];  /* conv1_weight: 100 bytes at 640 */
  char gap0_[28];
  float t_conv1_bias_ldm[1];  /* conv1_bias: 4 bytes at 768 */
  char gap1_[28];
  float t_conv1_ldm[1][1][6][12];  /* conv1: 288 bytes at 800 */
  float t_pool1_ldm[1][1][3][6];  /* pool1: 72 bytes at 1088 */
  struct pool1_ed678169_para para;
  volatile unsigned reply_para, reply_image, reply_conv1_weight, reply_conv1_bias, reply_pool1;
};
SW_CHECK(pool1_ed678169_t_image_ldm_is_in_place, offsetof(struct pool1_ed678169_ldm, t_image_ldm) == 0);
SW_CHECK(pool1_ed678169_t_conv1_weight_ldm_is_in_place, offsetof(struct pool1_ed678169_ldm, t_conv1_weight_ldm) == 640);
SW_CHECK(pool1_ed678169_t_conv1_bias_ldm_is_in_place, offsetof(struct pool1_ed678169_ldm, t_conv1_bias_ldm) == 768);
SW_CHECK(pool1_ed678169_t_conv1_ldm_is_in_place, offsetof(struct pool1_ed678169_ldm, t_conv1_ldm) == 800);
SW_CHECK(pool1_ed678169_t_pool1_ldm_is_in_place, offsetof(struct pool1_ed678169_ldm, t_pool1_ldm) == 1088);
SW_CHECK(pool1_ed678169_buffers_fit, 1160 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(pool1_ed678169_all_fits, sizeof(struct pool1_ed678169_ldm) <= SW_ARENA_BYTES);

void pool1_ed678169(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 16) return;
  struct pool1_ed678169_ldm *ldm = LDM_OF(struct pool1_ed678169_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *t_image = ldm->para.t_image;
  float *t_conv1_weight = ldm->para.t_conv1_weight;
  float *t_conv1_bias = ldm->para.t_conv1_bias;
  float *t_pool1 = ldm->para.t_pool1;

  const int c_core = core / 2;
  const int yy_2_core = core % 2;
  const int yy_2_at = 3 * yy_2_core;
  const int t_image_2_at = 2 * yy_2_at;
  /* get image[0 .. +1][0 .. +1][t_image_2_at .. +10][0 .. +16]: image before the first loop */
  ldm->reply_image = 0;
  athread_get(PE_MODE, t_image + 16 * t_image_2_at, &ldm->t_image_ldm[0][0][t_image_2_at - 2 * yy_2_at][0], 640, (void *)&ldm->reply_image, 0, 0, 0);
  /* get conv1_weight[c_core .. +1][0 .. +1][0 .. +5][0 .. +5]: conv1_weight before the first loop */
  ldm->reply_conv1_weight = 0;
  athread_get(PE_MODE, t_conv1_weight + 25 * c_core, ldm->t_conv1_weight_ldm, 100, (void *)&ldm->reply_conv1_weight, 0, 0, 0);
  /* get conv1_bias[c_core .. +1]: conv1_bias before the first loop */
  ldm->reply_conv1_bias = 0;
  athread_get(PE_MODE, t_conv1_bias + c_core, ldm->t_conv1_bias_ldm, 4, (void *)&ldm->reply_conv1_bias, 0, 0, 0);
  dma_wait(&ldm->reply_image, 1);
  dma_wait(&ldm->reply_conv1_weight, 1);
  dma_wait(&ldm->reply_conv1_bias, 1);
  const int t_conv1_yy_at = 2 * yy_2_at;
  /* initialisation of conv1 */
  for (int i = 0; i < 72; i++) ((float *)ldm->t_conv1_ldm)[i] = 0.0f;
  for (int yyi = 0; yyi < 6; yyi++) {
    {
      floatv4 acc00, acc01, acc02;
      simd_load(acc00, &ldm->t_conv1_ldm[0][0][yyi][0]);
      simd_load(acc01, &ldm->t_conv1_ldm[0][0][yyi][4]);
      simd_load(acc02, &ldm->t_conv1_ldm[0][0][yyi][8]);
      for (int ryi = 0; ryi < 5; ryi++) {
        for (int rxi = 0; rxi < 5; rxi++) {
          floatv4 a0_, a1_, a2_;
          floatv4 b_;
          simd_loadu(a0_, &ldm->t_image_ldm[0][0][t_conv1_yy_at + yyi + ryi - 2 * yy_2_at][rxi]);
          simd_loadu(a1_, &ldm->t_image_ldm[0][0][t_conv1_yy_at + yyi + ryi - 2 * yy_2_at][rxi + 4]);
          simd_loadu(a2_, &ldm->t_image_ldm[0][0][t_conv1_yy_at + yyi + ryi - 2 * yy_2_at][rxi + 8]);
          simd_loade(b_, &ldm->t_conv1_weight_ldm[0][0][ryi][rxi]);
          acc00 = simd_vmas(a0_, b_, acc00);
          acc01 = simd_vmas(a1_, b_, acc01);
          acc02 = simd_vmas(a2_, b_, acc02);
        }
      }
      simd_store(acc00, &ldm->t_conv1_ldm[0][0][yyi][0]);
      simd_store(acc01, &ldm->t_conv1_ldm[0][0][yyi][4]);
      simd_store(acc02, &ldm->t_conv1_ldm[0][0][yyi][8]);
    }
  }
  for (int yyi = 0; yyi < 6; yyi++) {
    for (int xxi = 0; xxi < 12; xxi++) {
      ldm->t_conv1_ldm[0][0][yyi][xxi] = ldm->t_conv1_ldm[0][0][yyi][xxi] + ldm->t_conv1_bias_ldm[0];
    }
  }
  /* initialisation of pool1 */
  for (int i = 0; i < 18; i++) ((float *)ldm->t_pool1_ldm)[i] = (-INFINITY);
  for (int yy_2i = 0; yy_2i < 3; yy_2i++) {
    for (int ry_2i = 0; ry_2i < 2; ry_2i++) {
      for (int rx_2i = 0; rx_2i < 2; rx_2i++) {
        for (int xx_2i = 0; xx_2i < 6; xx_2i++) {
          ldm->t_pool1_ldm[0][0][yy_2i][xx_2i] = sw_max_float(ldm->t_pool1_ldm[0][0][yy_2i][xx_2i], ldm->t_conv1_ldm[0][0][2 * yy_2_at + 2 * yy_2i + ry_2i - t_conv1_yy_at][2 * xx_2i + rx_2i]);
        }
      }
    }
  }
  /* put pool1[0 .. +1][c_core .. +1][yy_2_at .. +3][0 .. +6]: pool1 after the last loop */
  ldm->reply_pool1 = 0;
  athread_put(PE_MODE, ldm->t_pool1_ldm, t_pool1 + 36 * c_core + 6 * yy_2_at, 72, (void *)&ldm->reply_pool1, 0, 0);
  dma_wait(&ldm->reply_pool1, 1);
}
