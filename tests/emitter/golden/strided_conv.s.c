/*
 * conv_daa59618: compute-core function of layer layer_conv
 *
 *   input X f32[1,3,37,37]
 *   input W f32[20,3,7,7]
 *   output Y f32[1,20,19,19]
 *   conv: Y[n<1, ff<20, yy<19, xx<19] = sum_{rc<3, ry<7, rx<7} (X[n, rc, 2*yy + ry - 3, 2*xx + rx - 3 else 0] * W[ff, rc, ry, rx])
 *
 * cores    60: ff in 20 parts, yy in 3 parts
 * buffers  t_X_ldm of X: [1,3,19,43], 9804 bytes at 0
 *          t_W_ldm of W: [1,3,7,7], 588 bytes at 9824
 *          t_Y_ldm of Y: [1,1,7,19], 532 bytes at 10432
 * LDM      10976 bytes of buffers
 * loops    none
 * DMA      get X outside all loops
 *          get W outside all loops
 *          put Y outside all loops
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slave.h"
#include "dma.h"
#include "simd.h"
#include "layers_mix.h"
#include "sw_rt.h"
#include "sw_vectors.h"

struct conv_daa59618_ldm {
  float t_X_ldm[1][3][19][43];  /* X: 9804 bytes at 0 */
  char gap0_[20];
  float t_W_ldm[1][3][7][7];  /* W: 588 bytes at 9824 */
  char gap1_[20];
  float t_Y_ldm[1][1][7][19];  /* Y: 532 bytes at 10432 */
  struct conv_daa59618_para para;
  volatile unsigned reply_para, reply_X, reply_W, reply_Y;
};
SW_CHECK(conv_daa59618_t_X_ldm_is_in_place, offsetof(struct conv_daa59618_ldm, t_X_ldm) == 0);
SW_CHECK(conv_daa59618_t_W_ldm_is_in_place, offsetof(struct conv_daa59618_ldm, t_W_ldm) == 9824);
SW_CHECK(conv_daa59618_t_Y_ldm_is_in_place, offsetof(struct conv_daa59618_ldm, t_Y_ldm) == 10432);
SW_CHECK(conv_daa59618_buffers_fit, 10964 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(conv_daa59618_all_fits, sizeof(struct conv_daa59618_ldm) <= SW_ARENA_BYTES);

void conv_daa59618(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 60) return;
  struct conv_daa59618_ldm *ldm = LDM_OF(struct conv_daa59618_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *t_X = ldm->para.t_X;
  float *t_W = ldm->para.t_W;
  float *t_Y = ldm->para.t_Y;

  const int ff_core = core / 3;
  const int yy_core = core % 3;
  int issued_X = 0;
  const int yy_at = 7 * yy_core;
  const int yy_n = sw_min(7, 19 - 7 * yy_core);
  const int t_X_2_at = sw_max(2 * yy_at - 3, 0);
  const int t_X_2_n = sw_min(2 * yy_at + 2 * yy_n + 1, 36) + 1 - sw_max(2 * yy_at - 3, 0);
  /* padding of X */
  for (int i1 = 0; i1 < 3; i1++) {
    for (int i = 0; i < 43 * sw_max(0, 3 - 2 * yy_at); i++) ((float *)ldm->t_X_ldm)[817 * i1 + i] = 0.0f;
    for (int i = 43 * sw_min(19, 40 - 2 * yy_at); i < 817; i++) ((float *)ldm->t_X_ldm)[817 * i1 + i] = 0.0f;
    for (int i2 = sw_max(0, 3 - 2 * yy_at); i2 < sw_min(19, 40 - 2 * yy_at); i2++) {
      for (int i = 0; i < 3; i++) ((float *)ldm->t_X_ldm)[817 * i1 + 43 * i2 + i] = 0.0f;
      for (int i = 40; i < 43; i++) ((float *)ldm->t_X_ldm)[817 * i1 + 43 * i2 + i] = 0.0f;
    }
  }
  /* get X[0 .. +1][0 .. +3][t_X_2_at .. +t_X_2_n][0 .. +37]: X before the first loop */
  ldm->reply_X = 0;
  issued_X = 0;
  if (t_X_2_n > 0) {
    issued_X = 3 * t_X_2_n;
    for (int i1_ = 0; i1_ < 3; i1_++) {
      for (int i2_ = 0; i2_ < t_X_2_n; i2_++) {
        athread_get(PE_MODE, t_X + 37 * t_X_2_at + 1369 * i1_ + 37 * i2_, &ldm->t_X_ldm[0][i1_][t_X_2_at + i2_ + 3 - 2 * yy_at][3], 148, (void *)&ldm->reply_X, 0, 0, 0);
      }
    }
  }
  /* get W[ff_core .. +1][0 .. +3][0 .. +7][0 .. +7]: W before the first loop */
  ldm->reply_W = 0;
  athread_get(PE_MODE, t_W + 147 * ff_core, ldm->t_W_ldm, 588, (void *)&ldm->reply_W, 0, 0, 0);
  dma_wait(&ldm->reply_X, issued_X);
  dma_wait(&ldm->reply_W, 1);
  /* initialisation of Y: in the registers of the sum */
  {
    if (yy_n == 7) {
      {
        floatv4 acc00, acc01, acc02;
        floatv4 acc10, acc11, acc12;
        floatv4 acc20, acc21, acc22;
        floatv4 acc30, acc31, acc32;
        acc00 = acc01 = acc02 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
        acc10 = acc11 = acc12 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
        acc20 = acc21 = acc22 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
        acc30 = acc31 = acc32 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
        for (int rci = 0; rci < 3; rci++) {
          for (int ryi = 0; ryi < 7; ryi++) {
            for (int rxi = 0; rxi < 7; rxi++) {
              floatv4 a0_0_, a0_1_, a0_2_, a1_0_, a1_1_, a1_2_, a2_0_, a2_1_, a2_2_, a3_0_, a3_1_, a3_2_;
              floatv4 b_;
              simd_loade(b_, &ldm->t_W_ldm[0][rci][ryi][rxi]);
              a0_0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi][rxi], ldm->t_X_ldm[0][rci][ryi][rxi + 2], ldm->t_X_ldm[0][rci][ryi][rxi + 4], ldm->t_X_ldm[0][rci][ryi][rxi + 6]);
              a0_1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi][rxi + 8], ldm->t_X_ldm[0][rci][ryi][rxi + 10], ldm->t_X_ldm[0][rci][ryi][rxi + 12], ldm->t_X_ldm[0][rci][ryi][rxi + 14]);
              a0_2_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi][rxi + 16], ldm->t_X_ldm[0][rci][ryi][rxi + 18], ldm->t_X_ldm[0][rci][ryi][rxi + 20], ldm->t_X_ldm[0][rci][ryi][rxi + 22]);
              acc00 = simd_vmas(a0_0_, b_, acc00);
              acc01 = simd_vmas(a0_1_, b_, acc01);
              acc02 = simd_vmas(a0_2_, b_, acc02);
              a1_0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 2][rxi], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 2], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 4], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 6]);
              a1_1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 2][rxi + 8], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 10], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 12], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 14]);
              a1_2_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 2][rxi + 16], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 18], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 20], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 22]);
              acc10 = simd_vmas(a1_0_, b_, acc10);
              acc11 = simd_vmas(a1_1_, b_, acc11);
              acc12 = simd_vmas(a1_2_, b_, acc12);
              a2_0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 4][rxi], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 2], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 4], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 6]);
              a2_1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 4][rxi + 8], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 10], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 12], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 14]);
              a2_2_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 4][rxi + 16], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 18], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 20], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 22]);
              acc20 = simd_vmas(a2_0_, b_, acc20);
              acc21 = simd_vmas(a2_1_, b_, acc21);
              acc22 = simd_vmas(a2_2_, b_, acc22);
              a3_0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 6][rxi], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 2], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 4], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 6]);
              a3_1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 6][rxi + 8], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 10], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 12], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 14]);
              a3_2_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 6][rxi + 16], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 18], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 20], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 22]);
              acc30 = simd_vmas(a3_0_, b_, acc30);
              acc31 = simd_vmas(a3_1_, b_, acc31);
              acc32 = simd_vmas(a3_2_, b_, acc32);
            }
          }
        }
        simd_store(acc00, &ldm->t_Y_ldm[0][0][0][0]);
        simd_store(acc01, &ldm->t_Y_ldm[0][0][0][4]);
        simd_store(acc02, &ldm->t_Y_ldm[0][0][0][8]);
        simd_storeu(acc10, &ldm->t_Y_ldm[0][0][1][0]);
        simd_storeu(acc11, &ldm->t_Y_ldm[0][0][1][4]);
        simd_storeu(acc12, &ldm->t_Y_ldm[0][0][1][8]);
        simd_storeu(acc20, &ldm->t_Y_ldm[0][0][2][0]);
        simd_storeu(acc21, &ldm->t_Y_ldm[0][0][2][4]);
        simd_storeu(acc22, &ldm->t_Y_ldm[0][0][2][8]);
        simd_storeu(acc30, &ldm->t_Y_ldm[0][0][3][0]);
        simd_storeu(acc31, &ldm->t_Y_ldm[0][0][3][4]);
        simd_storeu(acc32, &ldm->t_Y_ldm[0][0][3][8]);
      }
      {
        floatv4 acc00, acc01;
        floatv4 acc10, acc11;
        floatv4 acc20, acc21;
        floatv4 acc30, acc31;
        acc00 = acc01 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
        acc10 = acc11 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
        acc20 = acc21 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
        acc30 = acc31 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
        for (int rci = 0; rci < 3; rci++) {
          for (int ryi = 0; ryi < 7; ryi++) {
            for (int rxi = 0; rxi < 7; rxi++) {
              floatv4 a0_0_, a0_1_, a1_0_, a1_1_, a2_0_, a2_1_, a3_0_, a3_1_;
              floatv4 b_;
              simd_loade(b_, &ldm->t_W_ldm[0][rci][ryi][rxi]);
              a0_0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi][rxi + 24], ldm->t_X_ldm[0][rci][ryi][rxi + 26], ldm->t_X_ldm[0][rci][ryi][rxi + 28], ldm->t_X_ldm[0][rci][ryi][rxi + 30]);
              a0_1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi][rxi + 30], ldm->t_X_ldm[0][rci][ryi][rxi + 32], ldm->t_X_ldm[0][rci][ryi][rxi + 34], ldm->t_X_ldm[0][rci][ryi][rxi + 36]);
              acc00 = simd_vmas(a0_0_, b_, acc00);
              acc01 = simd_vmas(a0_1_, b_, acc01);
              a1_0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 2][rxi + 24], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 26], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 28], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 30]);
              a1_1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 2][rxi + 30], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 32], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 34], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 36]);
              acc10 = simd_vmas(a1_0_, b_, acc10);
              acc11 = simd_vmas(a1_1_, b_, acc11);
              a2_0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 4][rxi + 24], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 26], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 28], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 30]);
              a2_1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 4][rxi + 30], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 32], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 34], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 36]);
              acc20 = simd_vmas(a2_0_, b_, acc20);
              acc21 = simd_vmas(a2_1_, b_, acc21);
              a3_0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 6][rxi + 24], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 26], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 28], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 30]);
              a3_1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 6][rxi + 30], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 32], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 34], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 36]);
              acc30 = simd_vmas(a3_0_, b_, acc30);
              acc31 = simd_vmas(a3_1_, b_, acc31);
            }
          }
        }
        simd_store(acc00, &ldm->t_Y_ldm[0][0][0][12]);
        simd_storeu(acc01, &ldm->t_Y_ldm[0][0][0][15]);
        simd_storeu(acc10, &ldm->t_Y_ldm[0][0][1][12]);
        simd_storeu(acc11, &ldm->t_Y_ldm[0][0][1][15]);
        simd_storeu(acc20, &ldm->t_Y_ldm[0][0][2][12]);
        simd_storeu(acc21, &ldm->t_Y_ldm[0][0][2][15]);
        simd_storeu(acc30, &ldm->t_Y_ldm[0][0][3][12]);
        simd_store(acc31, &ldm->t_Y_ldm[0][0][3][15]);
      }
      {
        floatv4 acc00, acc01, acc02, acc03, acc04;
        floatv4 acc10, acc11, acc12, acc13, acc14;
        floatv4 acc20, acc21, acc22, acc23, acc24;
        acc00 = acc01 = acc02 = acc03 = acc04 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
        acc10 = acc11 = acc12 = acc13 = acc14 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
        acc20 = acc21 = acc22 = acc23 = acc24 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
        for (int rci = 0; rci < 3; rci++) {
          for (int ryi = 0; ryi < 7; ryi++) {
            for (int rxi = 0; rxi < 7; rxi++) {
              floatv4 a0_0_, a0_1_, a0_2_, a0_3_, a0_4_, a1_0_, a1_1_, a1_2_, a1_3_, a1_4_, a2_0_, a2_1_, a2_2_, a2_3_, a2_4_;
              floatv4 b_;
              simd_loade(b_, &ldm->t_W_ldm[0][rci][ryi][rxi]);
              a0_0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 8][rxi], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 2], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 4], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 6]);
              a0_1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 8][rxi + 8], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 10], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 12], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 14]);
              a0_2_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 8][rxi + 16], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 18], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 20], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 22]);
              a0_3_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 8][rxi + 24], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 26], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 28], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 30]);
              a0_4_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 8][rxi + 30], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 32], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 34], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 36]);
              acc00 = simd_vmas(a0_0_, b_, acc00);
              acc01 = simd_vmas(a0_1_, b_, acc01);
              acc02 = simd_vmas(a0_2_, b_, acc02);
              acc03 = simd_vmas(a0_3_, b_, acc03);
              acc04 = simd_vmas(a0_4_, b_, acc04);
              a1_0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 10][rxi], ldm->t_X_ldm[0][rci][ryi + 10][rxi + 2], ldm->t_X_ldm[0][rci][ryi + 10][rxi + 4], ldm->t_X_ldm[0][rci][ryi + 10][rxi + 6]);
              a1_1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 10][rxi + 8], ldm->t_X_ldm[0][rci][ryi + 10][rxi + 10], ldm->t_X_ldm[0][rci][ryi + 10][rxi + 12], ldm->t_X_ldm[0][rci][ryi + 10][rxi + 14]);
              a1_2_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 10][rxi + 16], ldm->t_X_ldm[0][rci][ryi + 10][rxi + 18], ldm->t_X_ldm[0][rci][ryi + 10][rxi + 20], ldm->t_X_ldm[0][rci][ryi + 10][rxi + 22]);
              a1_3_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 10][rxi + 24], ldm->t_X_ldm[0][rci][ryi + 10][rxi + 26], ldm->t_X_ldm[0][rci][ryi + 10][rxi + 28], ldm->t_X_ldm[0][rci][ryi + 10][rxi + 30]);
              a1_4_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 10][rxi + 30], ldm->t_X_ldm[0][rci][ryi + 10][rxi + 32], ldm->t_X_ldm[0][rci][ryi + 10][rxi + 34], ldm->t_X_ldm[0][rci][ryi + 10][rxi + 36]);
              acc10 = simd_vmas(a1_0_, b_, acc10);
              acc11 = simd_vmas(a1_1_, b_, acc11);
              acc12 = simd_vmas(a1_2_, b_, acc12);
              acc13 = simd_vmas(a1_3_, b_, acc13);
              acc14 = simd_vmas(a1_4_, b_, acc14);
              a2_0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 12][rxi], ldm->t_X_ldm[0][rci][ryi + 12][rxi + 2], ldm->t_X_ldm[0][rci][ryi + 12][rxi + 4], ldm->t_X_ldm[0][rci][ryi + 12][rxi + 6]);
              a2_1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 12][rxi + 8], ldm->t_X_ldm[0][rci][ryi + 12][rxi + 10], ldm->t_X_ldm[0][rci][ryi + 12][rxi + 12], ldm->t_X_ldm[0][rci][ryi + 12][rxi + 14]);
              a2_2_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 12][rxi + 16], ldm->t_X_ldm[0][rci][ryi + 12][rxi + 18], ldm->t_X_ldm[0][rci][ryi + 12][rxi + 20], ldm->t_X_ldm[0][rci][ryi + 12][rxi + 22]);
              a2_3_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 12][rxi + 24], ldm->t_X_ldm[0][rci][ryi + 12][rxi + 26], ldm->t_X_ldm[0][rci][ryi + 12][rxi + 28], ldm->t_X_ldm[0][rci][ryi + 12][rxi + 30]);
              a2_4_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 12][rxi + 30], ldm->t_X_ldm[0][rci][ryi + 12][rxi + 32], ldm->t_X_ldm[0][rci][ryi + 12][rxi + 34], ldm->t_X_ldm[0][rci][ryi + 12][rxi + 36]);
              acc20 = simd_vmas(a2_0_, b_, acc20);
              acc21 = simd_vmas(a2_1_, b_, acc21);
              acc22 = simd_vmas(a2_2_, b_, acc22);
              acc23 = simd_vmas(a2_3_, b_, acc23);
              acc24 = simd_vmas(a2_4_, b_, acc24);
            }
          }
        }
        simd_store(acc00, &ldm->t_Y_ldm[0][0][4][0]);
        simd_store(acc01, &ldm->t_Y_ldm[0][0][4][4]);
        simd_store(acc02, &ldm->t_Y_ldm[0][0][4][8]);
        simd_store(acc03, &ldm->t_Y_ldm[0][0][4][12]);
        simd_storeu(acc04, &ldm->t_Y_ldm[0][0][4][15]);
        simd_storeu(acc10, &ldm->t_Y_ldm[0][0][5][0]);
        simd_storeu(acc11, &ldm->t_Y_ldm[0][0][5][4]);
        simd_storeu(acc12, &ldm->t_Y_ldm[0][0][5][8]);
        simd_storeu(acc13, &ldm->t_Y_ldm[0][0][5][12]);
        simd_storeu(acc14, &ldm->t_Y_ldm[0][0][5][15]);
        simd_storeu(acc20, &ldm->t_Y_ldm[0][0][6][0]);
        simd_storeu(acc21, &ldm->t_Y_ldm[0][0][6][4]);
        simd_storeu(acc22, &ldm->t_Y_ldm[0][0][6][8]);
        simd_storeu(acc23, &ldm->t_Y_ldm[0][0][6][12]);
        simd_storeu(acc24, &ldm->t_Y_ldm[0][0][6][15]);
      }
    } else if (yy_n == 5) {
      {
        floatv4 acc00, acc01, acc02, acc03, acc04;
        floatv4 acc10, acc11, acc12, acc13, acc14;
        floatv4 acc20, acc21, acc22, acc23, acc24;
        acc00 = acc01 = acc02 = acc03 = acc04 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
        acc10 = acc11 = acc12 = acc13 = acc14 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
        acc20 = acc21 = acc22 = acc23 = acc24 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
        for (int rci = 0; rci < 3; rci++) {
          for (int ryi = 0; ryi < 7; ryi++) {
            for (int rxi = 0; rxi < 7; rxi++) {
              floatv4 a0_0_, a0_1_, a0_2_, a0_3_, a0_4_, a1_0_, a1_1_, a1_2_, a1_3_, a1_4_, a2_0_, a2_1_, a2_2_, a2_3_, a2_4_;
              floatv4 b_;
              simd_loade(b_, &ldm->t_W_ldm[0][rci][ryi][rxi]);
              a0_0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi][rxi], ldm->t_X_ldm[0][rci][ryi][rxi + 2], ldm->t_X_ldm[0][rci][ryi][rxi + 4], ldm->t_X_ldm[0][rci][ryi][rxi + 6]);
              a0_1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi][rxi + 8], ldm->t_X_ldm[0][rci][ryi][rxi + 10], ldm->t_X_ldm[0][rci][ryi][rxi + 12], ldm->t_X_ldm[0][rci][ryi][rxi + 14]);
              a0_2_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi][rxi + 16], ldm->t_X_ldm[0][rci][ryi][rxi + 18], ldm->t_X_ldm[0][rci][ryi][rxi + 20], ldm->t_X_ldm[0][rci][ryi][rxi + 22]);
              a0_3_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi][rxi + 24], ldm->t_X_ldm[0][rci][ryi][rxi + 26], ldm->t_X_ldm[0][rci][ryi][rxi + 28], ldm->t_X_ldm[0][rci][ryi][rxi + 30]);
              a0_4_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi][rxi + 30], ldm->t_X_ldm[0][rci][ryi][rxi + 32], ldm->t_X_ldm[0][rci][ryi][rxi + 34], ldm->t_X_ldm[0][rci][ryi][rxi + 36]);
              acc00 = simd_vmas(a0_0_, b_, acc00);
              acc01 = simd_vmas(a0_1_, b_, acc01);
              acc02 = simd_vmas(a0_2_, b_, acc02);
              acc03 = simd_vmas(a0_3_, b_, acc03);
              acc04 = simd_vmas(a0_4_, b_, acc04);
              a1_0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 2][rxi], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 2], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 4], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 6]);
              a1_1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 2][rxi + 8], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 10], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 12], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 14]);
              a1_2_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 2][rxi + 16], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 18], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 20], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 22]);
              a1_3_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 2][rxi + 24], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 26], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 28], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 30]);
              a1_4_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 2][rxi + 30], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 32], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 34], ldm->t_X_ldm[0][rci][ryi + 2][rxi + 36]);
              acc10 = simd_vmas(a1_0_, b_, acc10);
              acc11 = simd_vmas(a1_1_, b_, acc11);
              acc12 = simd_vmas(a1_2_, b_, acc12);
              acc13 = simd_vmas(a1_3_, b_, acc13);
              acc14 = simd_vmas(a1_4_, b_, acc14);
              a2_0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 4][rxi], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 2], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 4], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 6]);
              a2_1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 4][rxi + 8], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 10], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 12], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 14]);
              a2_2_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 4][rxi + 16], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 18], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 20], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 22]);
              a2_3_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 4][rxi + 24], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 26], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 28], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 30]);
              a2_4_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 4][rxi + 30], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 32], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 34], ldm->t_X_ldm[0][rci][ryi + 4][rxi + 36]);
              acc20 = simd_vmas(a2_0_, b_, acc20);
              acc21 = simd_vmas(a2_1_, b_, acc21);
              acc22 = simd_vmas(a2_2_, b_, acc22);
              acc23 = simd_vmas(a2_3_, b_, acc23);
              acc24 = simd_vmas(a2_4_, b_, acc24);
            }
          }
        }
        simd_store(acc00, &ldm->t_Y_ldm[0][0][0][0]);
        simd_store(acc01, &ldm->t_Y_ldm[0][0][0][4]);
        simd_store(acc02, &ldm->t_Y_ldm[0][0][0][8]);
        simd_store(acc03, &ldm->t_Y_ldm[0][0][0][12]);
        simd_storeu(acc04, &ldm->t_Y_ldm[0][0][0][15]);
        simd_storeu(acc10, &ldm->t_Y_ldm[0][0][1][0]);
        simd_storeu(acc11, &ldm->t_Y_ldm[0][0][1][4]);
        simd_storeu(acc12, &ldm->t_Y_ldm[0][0][1][8]);
        simd_storeu(acc13, &ldm->t_Y_ldm[0][0][1][12]);
        simd_storeu(acc14, &ldm->t_Y_ldm[0][0][1][15]);
        simd_storeu(acc20, &ldm->t_Y_ldm[0][0][2][0]);
        simd_storeu(acc21, &ldm->t_Y_ldm[0][0][2][4]);
        simd_storeu(acc22, &ldm->t_Y_ldm[0][0][2][8]);
        simd_storeu(acc23, &ldm->t_Y_ldm[0][0][2][12]);
        simd_storeu(acc24, &ldm->t_Y_ldm[0][0][2][15]);
      }
      {
        floatv4 acc00, acc01, acc02, acc03, acc04;
        floatv4 acc10, acc11, acc12, acc13, acc14;
        acc00 = acc01 = acc02 = acc03 = acc04 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
        acc10 = acc11 = acc12 = acc13 = acc14 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
        for (int rci = 0; rci < 3; rci++) {
          for (int ryi = 0; ryi < 7; ryi++) {
            for (int rxi = 0; rxi < 7; rxi++) {
              floatv4 a0_0_, a0_1_, a0_2_, a0_3_, a0_4_, a1_0_, a1_1_, a1_2_, a1_3_, a1_4_;
              floatv4 b_;
              simd_loade(b_, &ldm->t_W_ldm[0][rci][ryi][rxi]);
              a0_0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 6][rxi], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 2], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 4], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 6]);
              a0_1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 6][rxi + 8], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 10], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 12], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 14]);
              a0_2_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 6][rxi + 16], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 18], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 20], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 22]);
              a0_3_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 6][rxi + 24], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 26], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 28], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 30]);
              a0_4_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 6][rxi + 30], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 32], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 34], ldm->t_X_ldm[0][rci][ryi + 6][rxi + 36]);
              acc00 = simd_vmas(a0_0_, b_, acc00);
              acc01 = simd_vmas(a0_1_, b_, acc01);
              acc02 = simd_vmas(a0_2_, b_, acc02);
              acc03 = simd_vmas(a0_3_, b_, acc03);
              acc04 = simd_vmas(a0_4_, b_, acc04);
              a1_0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 8][rxi], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 2], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 4], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 6]);
              a1_1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 8][rxi + 8], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 10], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 12], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 14]);
              a1_2_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 8][rxi + 16], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 18], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 20], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 22]);
              a1_3_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 8][rxi + 24], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 26], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 28], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 30]);
              a1_4_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][ryi + 8][rxi + 30], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 32], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 34], ldm->t_X_ldm[0][rci][ryi + 8][rxi + 36]);
              acc10 = simd_vmas(a1_0_, b_, acc10);
              acc11 = simd_vmas(a1_1_, b_, acc11);
              acc12 = simd_vmas(a1_2_, b_, acc12);
              acc13 = simd_vmas(a1_3_, b_, acc13);
              acc14 = simd_vmas(a1_4_, b_, acc14);
            }
          }
        }
        simd_storeu(acc00, &ldm->t_Y_ldm[0][0][3][0]);
        simd_storeu(acc01, &ldm->t_Y_ldm[0][0][3][4]);
        simd_storeu(acc02, &ldm->t_Y_ldm[0][0][3][8]);
        simd_storeu(acc03, &ldm->t_Y_ldm[0][0][3][12]);
        simd_store(acc04, &ldm->t_Y_ldm[0][0][3][15]);
        simd_store(acc10, &ldm->t_Y_ldm[0][0][4][0]);
        simd_store(acc11, &ldm->t_Y_ldm[0][0][4][4]);
        simd_store(acc12, &ldm->t_Y_ldm[0][0][4][8]);
        simd_store(acc13, &ldm->t_Y_ldm[0][0][4][12]);
        simd_storeu(acc14, &ldm->t_Y_ldm[0][0][4][15]);
      }
    }
  }
  /* put Y[0 .. +1][ff_core .. +1][yy_at .. +yy_n][0 .. +19]: Y after the last loop */
  ldm->reply_Y = 0;
  athread_put(PE_MODE, ldm->t_Y_ldm, t_Y + 361 * ff_core + 19 * yy_at, 76 * yy_n, (void *)&ldm->reply_Y, 0, 0);
  dma_wait(&ldm->reply_Y, 1);
}
