/*
 * kernel: compute-core function of layer chain
 *
 *   input X f32[8,4]
 *   input W f32[4,8]
 *   input B f32[8]
 *   intermediate T f32[8,8]
 *   intermediate R f32[8,8]
 *   output Y f32[8,8]
 *   product: T[y<8, l<8] = sum_{k<4} (X[y, k] * W[k, l])
 *   bound: R[y<8, l<8] = max((T[y, l] + B[l]), 0.0)
 *   pool: Y[y<8, l<8] = max_{w<3} R[y + w - 1, l else 0]
 *
 * cores    1
 * buffers  t_XX of X: [4,4], 64 bytes at 0
 *          t_WW of W: [4,8], 128 bytes at 64
 *          t_BB of B: [8], 32 bytes at 192
 *          t_TT of T: [4,8], 128 bytes at 224
 *          t_RR of R: [4,8], 128 bytes at 224
 *          t_YY of Y: [2,8], 64 bytes at 352
 * LDM      416 bytes of buffers
 * loops    yo
 * DMA      get B outside all loops
 *          get X inside yo
 *          get W inside yo
 *          put Y inside yo
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

struct kernel_ldm {
  float t_XX[4][4];  /* X: 64 bytes at 0 */
  float t_WW[4][8];  /* W: 128 bytes at 64 */
  float t_BB[8];  /* B: 32 bytes at 192 */
  union {
    float t_TT[4][8];  /* T: 128 bytes at 224 */
    float t_RR[4][8];  /* R: 128 bytes at 224 */
  };
  float t_YY[2][8];  /* Y: 64 bytes at 352 */
  struct kernel_para para;
  volatile unsigned reply_para, reply_B, reply_X, reply_W, reply_Y;
};
SW_CHECK(kernel_t_XX_is_in_place, offsetof(struct kernel_ldm, t_XX) == 0);
SW_CHECK(kernel_t_WW_is_in_place, offsetof(struct kernel_ldm, t_WW) == 64);
SW_CHECK(kernel_t_BB_is_in_place, offsetof(struct kernel_ldm, t_BB) == 192);
SW_CHECK(kernel_t_TT_is_in_place, offsetof(struct kernel_ldm, t_TT) == 224);
SW_CHECK(kernel_t_RR_is_in_place, offsetof(struct kernel_ldm, t_RR) == 224);
SW_CHECK(kernel_t_YY_is_in_place, offsetof(struct kernel_ldm, t_YY) == 352);
SW_CHECK(kernel_buffers_fit, 416 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(kernel_all_fits, sizeof(struct kernel_ldm) <= SW_ARENA_BYTES);

void kernel(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 1) return;
  struct kernel_ldm *ldm = LDM_OF(struct kernel_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *t_X = ldm->para.t_X;
  float *t_W = ldm->para.t_W;
  float *t_B = ldm->para.t_B;
  float *t_Y = ldm->para.t_Y;

  int issued_X = 0;
  /* get B[0 .. +8] */
  ldm->reply_B = 0;
  athread_get(PE_MODE, t_B, ldm->t_BB, 32, (void *)&ldm->reply_B, 0, 0, 0);
  dma_wait(&ldm->reply_B, 1);
  for (int yo = 0; yo < 4; yo++) {
    const int t_product_y_from = sw_max(2 * yo + 2 * sw_min(yo, 1) - 1, sw_max(2 * yo - 1, 0));
    /* begins: in the registers of the sum */
    if (yo > 0) {
      for (int i = 0; i < 16; i += 4) {
        floatv4 v_;
        simd_load(v_, &((float *)ldm->t_TT)[16 + i]);
        simd_store(v_, &((float *)ldm->t_TT)[i]);
      }
    }
    /* get X[sw_max(2 * yo + 2 * sw_min(yo, 1) - 1, sw_max(2 * yo - 1, 0)) .. +sw_min(2 * yo + 3, 8) - sw_max(2 * yo + 2 * sw_min(yo, 1) - 1, sw_max(2 * yo - 1, 0))][0 .. +4] */
    ldm->reply_X = 0;
    {
      const int n0_ = sw_min(2 * yo + 3, 8) - sw_max(2 * yo + 2 * sw_min(yo, 1) - 1, sw_max(2 * yo - 1, 0));
      issued_X = 0;
      if (n0_ > 0) {
        issued_X = 1;
        athread_get(PE_MODE, t_X + 4 * sw_max(2 * yo + 2 * sw_min(yo, 1) - 1, sw_max(2 * yo - 1, 0)), &ldm->t_XX[sw_max(2 * yo + 2 * sw_min(yo, 1) - 1, sw_max(2 * yo - 1, 0)) - sw_max(2 * yo - 1, 0)][0], 16 * n0_, (void *)&ldm->reply_X, 0, 0, 0);
      }
    }
    /* get W[0 .. +4][0 .. +8] */
    ldm->reply_W = 0;
    athread_get(PE_MODE, t_W, ldm->t_WW, 128, (void *)&ldm->reply_W, 0, 0, 0);
    dma_wait(&ldm->reply_X, issued_X);
    dma_wait(&ldm->reply_W, 1);
    {
      const int y_n = sw_min(2 * yo + 3, 8) - t_product_y_from;
      if (y_n == 3) {
        {
          SW_VECTORS2(acc0);
          SW_VECTORS2(acc1);
          SW_VECTORS2(acc2);
          SW_SET2(acc0, 0.0f);
          SW_SET2(acc1, 0.0f);
          SW_SET2(acc2, 0.0f);
          for (int ki = 0; ki < 4; ki++) {
            floatv4 a0_, a1_, a2_;
            SW_VECTORS2(b_v);
            SW_LOAD2(b_v, &ldm->t_WW[ki][0]);
            const float *a_row0 = &ldm->t_XX[t_product_y_from - sw_max(2 * yo - 1, 0)][ki];
            simd_loade(a0_, a_row0);
            SW_MAS2(acc0, a0_, b_v);
            simd_loade(a1_, a_row0 + 4);
            SW_MAS2(acc1, a1_, b_v);
            simd_loade(a2_, a_row0 + 8);
            SW_MAS2(acc2, a2_, b_v);
          }
          SW_APART2(acc0);
          SW_APART2(acc1);
          SW_APART2(acc2);
          {
            floatv4 v0_;
            simd_load(v0_, &ldm->t_BB[0]);
            floatv4 t0_ = simd_vadds(acc00, v0_);
            floatv4 c1_ = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
            floatv4 t1_ = simd_vseleqs(simd_vfcmplts(t0_, c1_), t0_, c1_);
            acc00 = t1_;
            floatv4 v2_;
            simd_load(v2_, &ldm->t_BB[4]);
            floatv4 t2_ = simd_vadds(acc01, v2_);
            floatv4 t3_ = simd_vseleqs(simd_vfcmplts(t2_, c1_), t2_, c1_);
            acc01 = t3_;
            floatv4 t4_ = simd_vadds(acc10, v0_);
            floatv4 t5_ = simd_vseleqs(simd_vfcmplts(t4_, c1_), t4_, c1_);
            acc10 = t5_;
            floatv4 t6_ = simd_vadds(acc11, v2_);
            floatv4 t7_ = simd_vseleqs(simd_vfcmplts(t6_, c1_), t6_, c1_);
            acc11 = t7_;
            floatv4 t8_ = simd_vadds(acc20, v0_);
            floatv4 t9_ = simd_vseleqs(simd_vfcmplts(t8_, c1_), t8_, c1_);
            acc20 = t9_;
            floatv4 t10_ = simd_vadds(acc21, v2_);
            floatv4 t11_ = simd_vseleqs(simd_vfcmplts(t10_, c1_), t10_, c1_);
            acc21 = t11_;
          }
          simd_store(acc00, &ldm->t_RR[t_product_y_from + 1 - 2 * yo][0]);
          simd_store(acc01, &ldm->t_RR[t_product_y_from + 1 - 2 * yo][4]);
          simd_store(acc10, &ldm->t_RR[t_product_y_from + 2 - 2 * yo][0]);
          simd_store(acc11, &ldm->t_RR[t_product_y_from + 2 - 2 * yo][4]);
          simd_store(acc20, &ldm->t_RR[t_product_y_from + 3 - 2 * yo][0]);
          simd_store(acc21, &ldm->t_RR[t_product_y_from + 3 - 2 * yo][4]);
        }
      } else if (y_n == 2) {
        {
          SW_VECTORS2(acc0);
          SW_VECTORS2(acc1);
          SW_SET2(acc0, 0.0f);
          SW_SET2(acc1, 0.0f);
          for (int ki = 0; ki < 4; ki++) {
            floatv4 a0_, a1_;
            SW_VECTORS2(b_v);
            SW_LOAD2(b_v, &ldm->t_WW[ki][0]);
            const float *a_row0 = &ldm->t_XX[t_product_y_from - sw_max(2 * yo - 1, 0)][ki];
            simd_loade(a0_, a_row0);
            SW_MAS2(acc0, a0_, b_v);
            simd_loade(a1_, a_row0 + 4);
            SW_MAS2(acc1, a1_, b_v);
          }
          SW_APART2(acc0);
          SW_APART2(acc1);
          {
            floatv4 v0_;
            simd_load(v0_, &ldm->t_BB[0]);
            floatv4 t0_ = simd_vadds(acc00, v0_);
            floatv4 c1_ = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
            floatv4 t1_ = simd_vseleqs(simd_vfcmplts(t0_, c1_), t0_, c1_);
            acc00 = t1_;
            floatv4 v2_;
            simd_load(v2_, &ldm->t_BB[4]);
            floatv4 t2_ = simd_vadds(acc01, v2_);
            floatv4 t3_ = simd_vseleqs(simd_vfcmplts(t2_, c1_), t2_, c1_);
            acc01 = t3_;
            floatv4 t4_ = simd_vadds(acc10, v0_);
            floatv4 t5_ = simd_vseleqs(simd_vfcmplts(t4_, c1_), t4_, c1_);
            acc10 = t5_;
            floatv4 t6_ = simd_vadds(acc11, v2_);
            floatv4 t7_ = simd_vseleqs(simd_vfcmplts(t6_, c1_), t6_, c1_);
            acc11 = t7_;
          }
          simd_store(acc00, &ldm->t_RR[t_product_y_from + 1 - 2 * yo][0]);
          simd_store(acc01, &ldm->t_RR[t_product_y_from + 1 - 2 * yo][4]);
          simd_store(acc10, &ldm->t_RR[t_product_y_from + 2 - 2 * yo][0]);
          simd_store(acc11, &ldm->t_RR[t_product_y_from + 2 - 2 * yo][4]);
        }
      } else if (y_n == 1) {
        {
          SW_VECTORS2(acc0);
          SW_SET2(acc0, 0.0f);
          for (int ki = 0; ki < 4; ki++) {
            floatv4 a0_;
            SW_VECTORS2(b_v);
            SW_LOAD2(b_v, &ldm->t_WW[ki][0]);
            simd_loade(a0_, &ldm->t_XX[t_product_y_from - sw_max(2 * yo - 1, 0)][ki]);
            SW_MAS2(acc0, a0_, b_v);
          }
          SW_APART2(acc0);
          {
            floatv4 v0_;
            simd_load(v0_, &ldm->t_BB[0]);
            floatv4 t0_ = simd_vadds(acc00, v0_);
            floatv4 c1_ = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
            floatv4 t1_ = simd_vseleqs(simd_vfcmplts(t0_, c1_), t0_, c1_);
            acc00 = t1_;
            floatv4 v2_;
            simd_load(v2_, &ldm->t_BB[4]);
            floatv4 t2_ = simd_vadds(acc01, v2_);
            floatv4 t3_ = simd_vseleqs(simd_vfcmplts(t2_, c1_), t2_, c1_);
            acc01 = t3_;
          }
          simd_store(acc00, &ldm->t_RR[t_product_y_from + 1 - 2 * yo][0]);
          simd_store(acc01, &ldm->t_RR[t_product_y_from + 1 - 2 * yo][4]);
        }
      }
    }
    /* bound: in the registers of the sum */
    for (int i = 0; i < 8 * sw_max(0, 1 - 2 * yo); i++) ((float *)ldm->t_RR)[i] = 0.0f;
    for (int i = 8 * sw_min(4, 9 - 2 * yo); i < 32; i++) ((float *)ldm->t_RR)[i] = 0.0f;
    {
      floatv4 v_ = simd_set_floatv4((-INFINITY), (-INFINITY), (-INFINITY), (-INFINITY));
      for (int i = 0; i < 16; i += 4) simd_store(v_, &((float *)ldm->t_YY)[i]);
    }
    for (int yi = 0; yi < 2; yi++) {
      for (int wi = 0; wi < 3; wi++) {
        for (int li = 0; li < 8; li++) {
          ldm->t_YY[yi][li] = sw_max_float(ldm->t_YY[yi][li], ldm->t_RR[yi + wi][li]);
        }
      }
    }
    /* put Y[2 * yo .. +2][0 .. +8] */
    ldm->reply_Y = 0;
    athread_put(PE_MODE, ldm->t_YY, t_Y + 16 * yo, 64, (void *)&ldm->reply_Y, 0, 0);
    dma_wait(&ldm->reply_Y, 1);
  }
}
