/*
 * depthwise_f63b0619: compute-core function of layer layer_depthwise
 *
 *   input T f32[2,7,9,8]
 *   input B f32[2,8]
 *   input W f32[2,3,3,8]
 *   intermediate M f32[2,7,9,8]
 *   output Y f32[2,7,9,8]
 *   bound: M[c<2, y<7, x<9, lane<8] = min(max((T[c, y, x, lane] + B[c, lane]), -0.5), 0.75)
 *   depthwise: Y[c<2, y<7, x<9, lane<8] = sum_{ry<3, rx<3} (M[c, y + ry - 1, x + rx - 1, lane else 0] * W[c, ry, rx, lane])
 *
 * cores    1
 * buffers  t_T_ldm of T: [2,7,9,8], 4032 bytes at 0
 *          t_B_ldm of B: [2,8], 64 bytes at 4032
 *          t_M_ldm of M: [2,9,11,8], 6336 bytes at 4096
 *          t_W_ldm of W: [2,3,3,8], 576 bytes at 10432
 *          t_Y_ldm of Y: [2,7,9,8], 4032 bytes at 11008
 * LDM      15040 bytes of buffers
 * loops    none
 * DMA      get T outside all loops
 *          get B outside all loops
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

struct depthwise_f63b0619_ldm {
  float t_T_ldm[2][7][9][8];  /* T: 4032 bytes at 0 */
  float t_B_ldm[2][8];  /* B: 64 bytes at 4032 */
  float t_M_ldm[2][9][11][8];  /* M: 6336 bytes at 4096 */
  float t_W_ldm[2][3][3][8];  /* W: 576 bytes at 10432 */
  float t_Y_ldm[2][7][9][8];  /* Y: 4032 bytes at 11008 */
  struct depthwise_f63b0619_para para;
  volatile unsigned reply_para, reply_T, reply_B, reply_W, reply_Y;
};
SW_CHECK(depthwise_f63b0619_t_T_ldm_is_in_place, offsetof(struct depthwise_f63b0619_ldm, t_T_ldm) == 0);
SW_CHECK(depthwise_f63b0619_t_B_ldm_is_in_place, offsetof(struct depthwise_f63b0619_ldm, t_B_ldm) == 4032);
SW_CHECK(depthwise_f63b0619_t_M_ldm_is_in_place, offsetof(struct depthwise_f63b0619_ldm, t_M_ldm) == 4096);
SW_CHECK(depthwise_f63b0619_t_W_ldm_is_in_place, offsetof(struct depthwise_f63b0619_ldm, t_W_ldm) == 10432);
SW_CHECK(depthwise_f63b0619_t_Y_ldm_is_in_place, offsetof(struct depthwise_f63b0619_ldm, t_Y_ldm) == 11008);
SW_CHECK(depthwise_f63b0619_buffers_fit, 15040 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(depthwise_f63b0619_all_fits, sizeof(struct depthwise_f63b0619_ldm) <= SW_ARENA_BYTES);

void depthwise_f63b0619(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 1) return;
  struct depthwise_f63b0619_ldm *ldm = LDM_OF(struct depthwise_f63b0619_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *t_T = ldm->para.t_T;
  float *t_B = ldm->para.t_B;
  float *t_W = ldm->para.t_W;
  float *t_Y = ldm->para.t_Y;

  /* get T[0 .. +2][0 .. +7][0 .. +9][0 .. +8]: T before the first loop */
  ldm->reply_T = 0;
  athread_get(PE_MODE, t_T, ldm->t_T_ldm, 4032, (void *)&ldm->reply_T, 0, 0, 0);
  /* get B[0 .. +2][0 .. +8]: B before the first loop */
  ldm->reply_B = 0;
  athread_get(PE_MODE, t_B, ldm->t_B_ldm, 64, (void *)&ldm->reply_B, 0, 0, 0);
  /* get W[0 .. +2][0 .. +3][0 .. +3][0 .. +8]: W before the first loop */
  ldm->reply_W = 0;
  athread_get(PE_MODE, t_W, ldm->t_W_ldm, 576, (void *)&ldm->reply_W, 0, 0, 0);
  dma_wait(&ldm->reply_T, 1);
  dma_wait(&ldm->reply_B, 1);
  dma_wait(&ldm->reply_W, 1);
  for (int ci = 0; ci < 2; ci++) {
    for (int yi = 0; yi < 7; yi++) {
      floatv4 c0_ = simd_set_floatv4((-0.5f), (-0.5f), (-0.5f), (-0.5f));
      floatv4 c1_ = simd_set_floatv4(0.75f, 0.75f, 0.75f, 0.75f);
      floatv4 v1_0_;
      simd_load(v1_0_, &ldm->t_B_ldm[ci][0]);
      floatv4 v1_1_;
      simd_load(v1_1_, &ldm->t_B_ldm[ci][4]);
      for (int xi = 0; xi < 9; xi++) {
        floatv4 v0_0_;
        simd_load(v0_0_, &ldm->t_T_ldm[ci][yi][xi][0]);
        floatv4 v0_1_;
        simd_load(v0_1_, &ldm->t_T_ldm[ci][yi][xi][4]);
        floatv4 t0_ = simd_vadds(v0_0_, v1_0_);
        floatv4 t1_ = simd_vseleqs(simd_vfcmplts(t0_, c0_), t0_, c0_);
        floatv4 t2_ = simd_vseleqs(simd_vfcmplts(c1_, t1_), t1_, c1_);
        simd_store(t2_, &ldm->t_M_ldm[ci][yi + 1][xi + 1][0]);
        floatv4 t3_ = simd_vadds(v0_1_, v1_1_);
        floatv4 t4_ = simd_vseleqs(simd_vfcmplts(t3_, c0_), t3_, c0_);
        floatv4 t5_ = simd_vseleqs(simd_vfcmplts(c1_, t4_), t4_, c1_);
        simd_store(t5_, &ldm->t_M_ldm[ci][yi + 1][xi + 1][4]);
      }
    }
  }
  /* padding of M */
  for (int i0 = 0; i0 < 2; i0++) {
    for (int i = 0; i < 88; i++) ((float *)ldm->t_M_ldm)[792 * i0 + i] = 0.0f;
    for (int i = 704; i < 792; i++) ((float *)ldm->t_M_ldm)[792 * i0 + i] = 0.0f;
    for (int i1 = 1; i1 < 8; i1++) {
      for (int i = 0; i < 8; i++) ((float *)ldm->t_M_ldm)[792 * i0 + 88 * i1 + i] = 0.0f;
      for (int i = 80; i < 88; i++) ((float *)ldm->t_M_ldm)[792 * i0 + 88 * i1 + i] = 0.0f;
    }
  }
  /* initialisation of Y: in the registers of the sum */
  for (int ci = 0; ci < 2; ci++) {
    for (int yi = 0; yi < 7; yi++) {
      {
        SW_VECTORS2(acc0);
        SW_VECTORS2(acc1);
        SW_VECTORS2(acc2);
        SW_VECTORS2(acc3);
        SW_VECTORS2(acc4);
        SW_SET2(acc0, 0.0f);
        SW_SET2(acc1, 0.0f);
        SW_SET2(acc2, 0.0f);
        SW_SET2(acc3, 0.0f);
        SW_SET2(acc4, 0.0f);
        for (int ryi = 0; ryi < 3; ryi++) {
          for (int rxi = 0; rxi < 3; rxi++) {
            SW_VECTORS2(a0_v);
            SW_VECTORS2(a1_v);
            SW_VECTORS2(a2_v);
            SW_VECTORS2(a3_v);
            SW_VECTORS2(a4_v);
            SW_VECTORS2(b_v);
            SW_LOAD2(b_v, &ldm->t_W_ldm[ci][ryi][rxi][0]);
            const float *a_row0 = &ldm->t_M_ldm[ci][yi + ryi][rxi][0];
            SW_LOAD2(a0_v, a_row0);
            SW_MAS_EACH2(acc0, a0_v, b_v);
            SW_LOAD2(a1_v, a_row0 + 8);
            SW_MAS_EACH2(acc1, a1_v, b_v);
            SW_LOAD2(a2_v, a_row0 + 16);
            SW_MAS_EACH2(acc2, a2_v, b_v);
            SW_LOAD2(a3_v, a_row0 + 24);
            SW_MAS_EACH2(acc3, a3_v, b_v);
            SW_LOAD2(a4_v, a_row0 + 32);
            SW_MAS_EACH2(acc4, a4_v, b_v);
          }
        }
        SW_STORE2(acc0, &ldm->t_Y_ldm[ci][yi][0][0]);
        SW_STORE2(acc1, &ldm->t_Y_ldm[ci][yi][1][0]);
        SW_STORE2(acc2, &ldm->t_Y_ldm[ci][yi][2][0]);
        SW_STORE2(acc3, &ldm->t_Y_ldm[ci][yi][3][0]);
        SW_STORE2(acc4, &ldm->t_Y_ldm[ci][yi][4][0]);
      }
      {
        SW_VECTORS2(acc0);
        SW_VECTORS2(acc1);
        SW_VECTORS2(acc2);
        SW_VECTORS2(acc3);
        SW_SET2(acc0, 0.0f);
        SW_SET2(acc1, 0.0f);
        SW_SET2(acc2, 0.0f);
        SW_SET2(acc3, 0.0f);
        for (int ryi = 0; ryi < 3; ryi++) {
          for (int rxi = 0; rxi < 3; rxi++) {
            SW_VECTORS2(a0_v);
            SW_VECTORS2(a1_v);
            SW_VECTORS2(a2_v);
            SW_VECTORS2(a3_v);
            SW_VECTORS2(b_v);
            SW_LOAD2(b_v, &ldm->t_W_ldm[ci][ryi][rxi][0]);
            const float *a_row0 = &ldm->t_M_ldm[ci][yi + ryi][rxi + 5][0];
            SW_LOAD2(a0_v, a_row0);
            SW_MAS_EACH2(acc0, a0_v, b_v);
            SW_LOAD2(a1_v, a_row0 + 8);
            SW_MAS_EACH2(acc1, a1_v, b_v);
            SW_LOAD2(a2_v, a_row0 + 16);
            SW_MAS_EACH2(acc2, a2_v, b_v);
            SW_LOAD2(a3_v, a_row0 + 24);
            SW_MAS_EACH2(acc3, a3_v, b_v);
          }
        }
        SW_STORE2(acc0, &ldm->t_Y_ldm[ci][yi][5][0]);
        SW_STORE2(acc1, &ldm->t_Y_ldm[ci][yi][6][0]);
        SW_STORE2(acc2, &ldm->t_Y_ldm[ci][yi][7][0]);
        SW_STORE2(acc3, &ldm->t_Y_ldm[ci][yi][8][0]);
      }
    }
  }
  /* put Y[0 .. +2][0 .. +7][0 .. +9][0 .. +8]: Y after the last loop */
  ldm->reply_Y = 0;
  athread_put(PE_MODE, ldm->t_Y_ldm, t_Y, 4032, (void *)&ldm->reply_Y, 0, 0);
  dma_wait(&ldm->reply_Y, 1);
}
