/*
 * pool1_f8ecaedb: compute-core function of layer layer_pool1
 *
 *   input image f32[1,1,16,16]
 *   constant conv1_weight_blocks f32[2,1,5,5,4]
 *   constant conv1_bias f32[8]
 *   intermediate conv1 f32[1,2,12,12,4]
 *   output pool1 f32[1,2,6,6,4]
 *   conv1: conv1[n<1, ff_block<2, yy<12, xx<12, ff_lane<4] = sum_{rc<1, ry<5, rx<5} (image[n, rc, yy + ry, xx + rx] * conv1_weight_blocks[ff_block, rc, ry, rx, ff_lane])
 *     finish (acc + conv1_bias[4*ff_block + ff_lane])
 *   pool1: pool1[n_2<1, c_block<2, yy_2<6, xx_2<6, c_lane<4] = max_{ry_2<2, rx_2<2} conv1[n_2, c_block, 2*yy_2 + ry_2, 2*xx_2 + rx_2, c_lane]
 *
 * cores    12: c_block in 2 parts, yy_2 in 6 parts
 * buffers  t_image_ldm of image: [1,1,6,16], 384 bytes at 0
 *          t_conv1_weight_blocks_ldm of conv1_weight_blocks: [1,1,5,5,4], 400 bytes at 384
 *          t_conv1_bias_ldm of conv1_bias: [4], 16 bytes at 800
 *          t_conv1_ldm of conv1: [1,1,2,12,4], 384 bytes at 832
 *          t_pool1_ldm of pool1: [1,1,1,6,4], 96 bytes at 1216
 * LDM      1312 bytes of buffers
 * loops    none
 * DMA      get image outside all loops
 *          get conv1_weight_blocks outside all loops
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

struct pool1_f8ecaedb_ldm {
  float t_image_ldm[1][1][6][16];  /* image: 384 bytes at 0 */
  float t_conv1_weight_blocks_ldm[1][1][5][5][4];  /* conv1_weight_blocks: 400 bytes at 384 */
  char gap0_[16];
  float t_conv1_bias_ldm[4];  /* conv1_bias: 16 bytes at 800 */
  char gap1_[16];
  float t_conv1_ldm[1][1][2][12][4];  /* conv1: 384 bytes at 832 */
  float t_pool1_ldm[1][1][1][6][4];  /* pool1: 96 bytes at 1216 */
  struct pool1_f8ecaedb_para para;
  volatile unsigned reply_para, reply_image, reply_conv1_weight_blocks, reply_conv1_bias, reply_pool1;
};
SW_CHECK(pool1_f8ecaedb_t_image_ldm_is_in_place, offsetof(struct pool1_f8ecaedb_ldm, t_image_ldm) == 0);
SW_CHECK(pool1_f8ecaedb_t_conv1_weight_blocks_ldm_is_in_place, offsetof(struct pool1_f8ecaedb_ldm, t_conv1_weight_blocks_ldm) == 384);
SW_CHECK(pool1_f8ecaedb_t_conv1_bias_ldm_is_in_place, offsetof(struct pool1_f8ecaedb_ldm, t_conv1_bias_ldm) == 800);
SW_CHECK(pool1_f8ecaedb_t_conv1_ldm_is_in_place, offsetof(struct pool1_f8ecaedb_ldm, t_conv1_ldm) == 832);
SW_CHECK(pool1_f8ecaedb_t_pool1_ldm_is_in_place, offsetof(struct pool1_f8ecaedb_ldm, t_pool1_ldm) == 1216);
SW_CHECK(pool1_f8ecaedb_buffers_fit, 1312 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(pool1_f8ecaedb_all_fits, sizeof(struct pool1_f8ecaedb_ldm) <= SW_ARENA_BYTES);

void pool1_f8ecaedb(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 12) return;
  struct pool1_f8ecaedb_ldm *ldm = LDM_OF(struct pool1_f8ecaedb_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *t_image = ldm->para.t_image;
  float *t_conv1_weight_blocks = ldm->para.t_conv1_weight_blocks;
  float *t_conv1_bias = ldm->para.t_conv1_bias;
  float *t_pool1 = ldm->para.t_pool1;

  const int c_block_core = core / 6;
  const int yy_2_core = core % 6;
  const int t_image_2_at = 2 * yy_2_core;
  /* get image[0 .. +1][0 .. +1][t_image_2_at .. +6][0 .. +16]: image before the first loop */
  ldm->reply_image = 0;
  athread_get(PE_MODE, t_image + 16 * t_image_2_at, &ldm->t_image_ldm[0][0][t_image_2_at - 2 * yy_2_core][0], 384, (void *)&ldm->reply_image, 0, 0, 0);
  /* get conv1_weight_blocks[c_block_core .. +1][0 .. +1][0 .. +5][0 .. +5][0 .. +4]: conv1_weight_blocks before the first loop */
  ldm->reply_conv1_weight_blocks = 0;
  athread_get(PE_MODE, t_conv1_weight_blocks + 100 * c_block_core, ldm->t_conv1_weight_blocks_ldm, 400, (void *)&ldm->reply_conv1_weight_blocks, 0, 0, 0);
  const int t_conv1_bias_0_at = 4 * c_block_core;
  /* get conv1_bias[t_conv1_bias_0_at .. +4]: conv1_bias before the first loop */
  ldm->reply_conv1_bias = 0;
  athread_get(PE_MODE, t_conv1_bias + t_conv1_bias_0_at, &ldm->t_conv1_bias_ldm[t_conv1_bias_0_at - 4 * c_block_core], 16, (void *)&ldm->reply_conv1_bias, 0, 0, 0);
  dma_wait(&ldm->reply_image, 1);
  dma_wait(&ldm->reply_conv1_weight_blocks, 1);
  dma_wait(&ldm->reply_conv1_bias, 1);
  const int t_conv1_yy_at = 2 * yy_2_core;
  /* initialisation of conv1 */
  {
    floatv4 v_ = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int i = 0; i < 96; i += 4) simd_store(v_, &((float *)ldm->t_conv1_ldm)[i]);
  }
  for (int yyi = 0; yyi < 2; yyi++) {
    {
      floatv4 acc00;
      floatv4 acc10;
      floatv4 acc20;
      floatv4 acc30;
      floatv4 acc40;
      floatv4 acc50;
      floatv4 acc60;
      floatv4 acc70;
      floatv4 acc80;
      floatv4 acc90;
      floatv4 acc100;
      floatv4 acc110;
      simd_load(acc00, &ldm->t_conv1_ldm[0][0][yyi][0][0]);
      simd_load(acc10, &ldm->t_conv1_ldm[0][0][yyi][1][0]);
      simd_load(acc20, &ldm->t_conv1_ldm[0][0][yyi][2][0]);
      simd_load(acc30, &ldm->t_conv1_ldm[0][0][yyi][3][0]);
      simd_load(acc40, &ldm->t_conv1_ldm[0][0][yyi][4][0]);
      simd_load(acc50, &ldm->t_conv1_ldm[0][0][yyi][5][0]);
      simd_load(acc60, &ldm->t_conv1_ldm[0][0][yyi][6][0]);
      simd_load(acc70, &ldm->t_conv1_ldm[0][0][yyi][7][0]);
      simd_load(acc80, &ldm->t_conv1_ldm[0][0][yyi][8][0]);
      simd_load(acc90, &ldm->t_conv1_ldm[0][0][yyi][9][0]);
      simd_load(acc100, &ldm->t_conv1_ldm[0][0][yyi][10][0]);
      simd_load(acc110, &ldm->t_conv1_ldm[0][0][yyi][11][0]);
      for (int ryi = 0; ryi < 5; ryi++) {
        for (int rxi = 0; rxi < 5; rxi++) {
          floatv4 a0_, a1_, a2_, a3_, a4_, a5_, a6_, a7_, a8_, a9_, a10_, a11_;
          floatv4 b0_;
          simd_load(b0_, &ldm->t_conv1_weight_blocks_ldm[0][0][ryi][rxi][0]);
          simd_loade(a0_, &ldm->t_image_ldm[0][0][t_conv1_yy_at + yyi + ryi - 2 * yy_2_core][rxi]);
          acc00 = simd_vmas(a0_, b0_, acc00);
          simd_loade(a1_, &ldm->t_image_ldm[0][0][t_conv1_yy_at + yyi + ryi - 2 * yy_2_core][rxi + 1]);
          acc10 = simd_vmas(a1_, b0_, acc10);
          simd_loade(a2_, &ldm->t_image_ldm[0][0][t_conv1_yy_at + yyi + ryi - 2 * yy_2_core][rxi + 2]);
          acc20 = simd_vmas(a2_, b0_, acc20);
          simd_loade(a3_, &ldm->t_image_ldm[0][0][t_conv1_yy_at + yyi + ryi - 2 * yy_2_core][rxi + 3]);
          acc30 = simd_vmas(a3_, b0_, acc30);
          simd_loade(a4_, &ldm->t_image_ldm[0][0][t_conv1_yy_at + yyi + ryi - 2 * yy_2_core][rxi + 4]);
          acc40 = simd_vmas(a4_, b0_, acc40);
          simd_loade(a5_, &ldm->t_image_ldm[0][0][t_conv1_yy_at + yyi + ryi - 2 * yy_2_core][rxi + 5]);
          acc50 = simd_vmas(a5_, b0_, acc50);
          simd_loade(a6_, &ldm->t_image_ldm[0][0][t_conv1_yy_at + yyi + ryi - 2 * yy_2_core][rxi + 6]);
          acc60 = simd_vmas(a6_, b0_, acc60);
          simd_loade(a7_, &ldm->t_image_ldm[0][0][t_conv1_yy_at + yyi + ryi - 2 * yy_2_core][rxi + 7]);
          acc70 = simd_vmas(a7_, b0_, acc70);
          simd_loade(a8_, &ldm->t_image_ldm[0][0][t_conv1_yy_at + yyi + ryi - 2 * yy_2_core][rxi + 8]);
          acc80 = simd_vmas(a8_, b0_, acc80);
          simd_loade(a9_, &ldm->t_image_ldm[0][0][t_conv1_yy_at + yyi + ryi - 2 * yy_2_core][rxi + 9]);
          acc90 = simd_vmas(a9_, b0_, acc90);
          simd_loade(a10_, &ldm->t_image_ldm[0][0][t_conv1_yy_at + yyi + ryi - 2 * yy_2_core][rxi + 10]);
          acc100 = simd_vmas(a10_, b0_, acc100);
          simd_loade(a11_, &ldm->t_image_ldm[0][0][t_conv1_yy_at + yyi + ryi - 2 * yy_2_core][rxi + 11]);
          acc110 = simd_vmas(a11_, b0_, acc110);
        }
      }
      simd_store(acc00, &ldm->t_conv1_ldm[0][0][yyi][0][0]);
      simd_store(acc10, &ldm->t_conv1_ldm[0][0][yyi][1][0]);
      simd_store(acc20, &ldm->t_conv1_ldm[0][0][yyi][2][0]);
      simd_store(acc30, &ldm->t_conv1_ldm[0][0][yyi][3][0]);
      simd_store(acc40, &ldm->t_conv1_ldm[0][0][yyi][4][0]);
      simd_store(acc50, &ldm->t_conv1_ldm[0][0][yyi][5][0]);
      simd_store(acc60, &ldm->t_conv1_ldm[0][0][yyi][6][0]);
      simd_store(acc70, &ldm->t_conv1_ldm[0][0][yyi][7][0]);
      simd_store(acc80, &ldm->t_conv1_ldm[0][0][yyi][8][0]);
      simd_store(acc90, &ldm->t_conv1_ldm[0][0][yyi][9][0]);
      simd_store(acc100, &ldm->t_conv1_ldm[0][0][yyi][10][0]);
      simd_store(acc110, &ldm->t_conv1_ldm[0][0][yyi][11][0]);
    }
  }
  for (int yyi = 0; yyi < 2; yyi++) {
    floatv4 v2_0_;
    simd_load(v2_0_, &ldm->t_conv1_bias_ldm[0]);
    for (int xxi = 0; xxi < 12; xxi++) {
      floatv4 acc0_;
      simd_load(acc0_, &ldm->t_conv1_ldm[0][0][yyi][xxi][0]);
      floatv4 t0_ = simd_vadds(acc0_, v2_0_);
      simd_store(t0_, &ldm->t_conv1_ldm[0][0][yyi][xxi][0]);
    }
  }
  /* initialisation of pool1 */
  {
    floatv4 v_ = simd_set_floatv4((-INFINITY), (-INFINITY), (-INFINITY), (-INFINITY));
    for (int i = 0; i < 24; i += 4) simd_store(v_, &((float *)ldm->t_pool1_ldm)[i]);
  }
  for (int xx_2i = 0; xx_2i < 6; xx_2i++) {
    for (int ry_2i = 0; ry_2i < 2; ry_2i++) {
      for (int rx_2i = 0; rx_2i < 2; rx_2i++) {
        for (int c_lanei = 0; c_lanei < 4; c_lanei++) {
          ldm->t_pool1_ldm[0][0][0][xx_2i][c_lanei] = sw_max_float(ldm->t_pool1_ldm[0][0][0][xx_2i][c_lanei], ldm->t_conv1_ldm[0][0][2 * yy_2_core + ry_2i - t_conv1_yy_at][2 * xx_2i + rx_2i][c_lanei]);
        }
      }
    }
  }
  /* put pool1[0 .. +1][c_block_core .. +1][yy_2_core .. +1][0 .. +6][0 .. +4]: pool1 after the last loop */
  ldm->reply_pool1 = 0;
  athread_put(PE_MODE, ldm->t_pool1_ldm, t_pool1 + 144 * c_block_core + 24 * yy_2_core, 96, (void *)&ldm->reply_pool1, 0, 0);
  dma_wait(&ldm->reply_pool1, 1);
}
