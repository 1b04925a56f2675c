/*
 * conv_c3d51e7d: compute-core function of layer layer_conv
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

struct conv_c3d51e7d_ldm {
  float t_X_ldm[1][3][19][43];  /* X: 9804 bytes at 0 */
  char gap0_[20];
  float t_W_ldm[1][3][7][7];  /* W: 588 bytes at 9824 */
  char gap1_[20];
  float t_Y_ldm[1][1][7][19];  /* Y: 532 bytes at 10432 */
  struct conv_c3d51e7d_para para;
  volatile unsigned reply_para, reply_X, reply_W, reply_Y;
};
SW_CHECK(conv_c3d51e7d_t_X_ldm_is_in_place, offsetof(struct conv_c3d51e7d_ldm, t_X_ldm) == 0);
SW_CHECK(conv_c3d51e7d_t_W_ldm_is_in_place, offsetof(struct conv_c3d51e7d_ldm, t_W_ldm) == 9824);
SW_CHECK(conv_c3d51e7d_t_Y_ldm_is_in_place, offsetof(struct conv_c3d51e7d_ldm, t_Y_ldm) == 10432);
SW_CHECK(conv_c3d51e7d_buffers_fit, 10964 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(conv_c3d51e7d_all_fits, sizeof(struct conv_c3d51e7d_ldm) <= SW_ARENA_BYTES);

void conv_c3d51e7d(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 60) return;
  struct conv_c3d51e7d_ldm *ldm = LDM_OF(struct conv_c3d51e7d_ldm);

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
  /* initialisation of Y */
  {
    floatv4 v_ = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int i = 0; i < 132; i += 4) simd_store(v_, &((float *)ldm->t_Y_ldm)[i]);
  }
  for (int i = 132; i < 133; i++) ((float *)ldm->t_Y_ldm)[i] = 0.0f;
  {
    for (int yyi = 0; yyi < yy_n; yyi++) {
      {
        floatv4 acc00, acc01, acc02;
        simd_loadu(acc00, &ldm->t_Y_ldm[0][0][yyi][0]);
        simd_loadu(acc01, &ldm->t_Y_ldm[0][0][yyi][4]);
        simd_loadu(acc02, &ldm->t_Y_ldm[0][0][yyi][8]);
        for (int rci = 0; rci < 3; rci++) {
          for (int ryi = 0; ryi < 7; ryi++) {
            for (int rxi = 0; rxi < 7; rxi++) {
              floatv4 a0_, a1_, a2_;
              floatv4 b_;
              a0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi], ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 2], ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 4], ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 6]);
              a1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 8], ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 10], ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 12], ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 14]);
              a2_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 16], ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 18], ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 20], ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 22]);
              simd_loade(b_, &ldm->t_W_ldm[0][rci][ryi][rxi]);
              acc00 = simd_vmas(a0_, b_, acc00);
              acc01 = simd_vmas(a1_, b_, acc01);
              acc02 = simd_vmas(a2_, b_, acc02);
            }
          }
        }
        simd_storeu(acc00, &ldm->t_Y_ldm[0][0][yyi][0]);
        simd_storeu(acc01, &ldm->t_Y_ldm[0][0][yyi][4]);
        simd_storeu(acc02, &ldm->t_Y_ldm[0][0][yyi][8]);
      }
      {
        floatv4 acc00, acc01;
        simd_loadu(acc00, &ldm->t_Y_ldm[0][0][yyi][12]);
        simd_loadu(acc01, &ldm->t_Y_ldm[0][0][yyi][15]);
        for (int rci = 0; rci < 3; rci++) {
          for (int ryi = 0; ryi < 7; ryi++) {
            for (int rxi = 0; rxi < 7; rxi++) {
              floatv4 a0_, a1_;
              floatv4 b_;
              a0_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 24], ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 26], ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 28], ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 30]);
              a1_ = simd_set_floatv4(ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 30], ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 32], ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 34], ldm->t_X_ldm[0][rci][2 * yyi + ryi][rxi + 36]);
              simd_loade(b_, &ldm->t_W_ldm[0][rci][ryi][rxi]);
              acc00 = simd_vmas(a0_, b_, acc00);
              acc01 = simd_vmas(a1_, b_, acc01);
            }
          }
        }
        simd_storeu(acc00, &ldm->t_Y_ldm[0][0][yyi][12]);
        simd_storeu(acc01, &ldm->t_Y_ldm[0][0][yyi][15]);
      }
    }
  }
  /* put Y[0 .. +1][ff_core .. +1][yy_at .. +yy_n][0 .. +19]: Y after the last loop */
  ldm->reply_Y = 0;
  athread_put(PE_MODE, ldm->t_Y_ldm, t_Y + 361 * ff_core + 19 * yy_at, 76 * yy_n, (void *)&ldm->reply_Y, 0, 0);
  dma_wait(&ldm->reply_Y, 1);
}
