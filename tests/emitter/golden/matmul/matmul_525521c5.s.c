/*
 * matmul_525521c5: compute-core function of layer layer_matmul
 *
 *   input A f32[1,1024]
 *   input B f32[1024,1024]
 *   output C f32[1,1024]
 *   matmul: C[x<1, y<1024] = sum_{k<1024} (A[x, k] * B[k, y])
 *
 * cores    1
 * buffers  t_A_ldm of A: [1,64], 256 bytes at 0
 *          t_B_ldm of B: [64,128], 32768 bytes at 256
 *          t_C_ldm of C: [1,128], 512 bytes at 33024
 * LDM      33536 bytes of buffers
 * loops    x, yo, ko
 * DMA      get A inside ko
 *          get B inside ko
 *          put C inside yo
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slave.h"
#include "dma.h"
#include "simd.h"
#include "layers_mix.h"
#include "sw_rt.h"

struct matmul_525521c5_ldm {
  float t_A_ldm[1][64];  /* A: 256 bytes at 0 */
  float t_B_ldm[64][128];  /* B: 32768 bytes at 256 */
  float t_C_ldm[1][128];  /* C: 512 bytes at 33024 */
  struct matmul_525521c5_para para;
  volatile unsigned reply_para, reply_A, reply_B, reply_C;
};
SW_CHECK(matmul_525521c5_t_A_ldm_is_in_place, offsetof(struct matmul_525521c5_ldm, t_A_ldm) == 0);
SW_CHECK(matmul_525521c5_t_B_ldm_is_in_place, offsetof(struct matmul_525521c5_ldm, t_B_ldm) == 256);
SW_CHECK(matmul_525521c5_t_C_ldm_is_in_place, offsetof(struct matmul_525521c5_ldm, t_C_ldm) == 33024);
SW_CHECK(matmul_525521c5_buffers_fit, 33536 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(matmul_525521c5_all_fits, sizeof(struct matmul_525521c5_ldm) <= SW_ARENA_BYTES);

void matmul_525521c5(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 1) return;
  struct matmul_525521c5_ldm *ldm = LDM_OF(struct matmul_525521c5_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *t_A = ldm->para.t_A;
  float *t_B = ldm->para.t_B;
  float *t_C = ldm->para.t_C;

  for (int x = 0; x < 1; x++) {
    for (int yo = 0; yo < 8; yo++) {
      const int y_at = 128 * yo;
      /* initialisation of C: in the registers of the sum */
      for (int ko = 0; ko < 16; ko++) {
        const int k_at = 64 * ko;
        /* get A[x .. +1][k_at .. +64]: A inside ko */
        ldm->reply_A = 0;
        athread_get(PE_MODE, t_A + 1024 * x + k_at, ldm->t_A_ldm, 256, (void *)&ldm->reply_A, 0, 0, 0);
        /* get B[k_at .. +64][y_at .. +128]: B inside ko */
        ldm->reply_B = 0;
        athread_get(PE_MODE, t_B + y_at + 1024 * k_at, ldm->t_B_ldm, 32768, (void *)&ldm->reply_B, 0, 3584, 512);
        dma_wait(&ldm->reply_A, 1);
        dma_wait(&ldm->reply_B, 1);
        for (int yi = 0; yi < 88; yi += 44) {
          floatv4 acc00, acc01, acc02, acc03, acc04, acc05, acc06, acc07, acc08, acc09, acc010;
          if (ko == 0) {
            acc00 = acc01 = acc02 = acc03 = acc04 = acc05 = acc06 = acc07 = acc08 = acc09 = acc010 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
          } else {
            simd_load(acc00, &ldm->t_C_ldm[0][yi]);
            simd_load(acc01, &ldm->t_C_ldm[0][yi + 4]);
            simd_load(acc02, &ldm->t_C_ldm[0][yi + 8]);
            simd_load(acc03, &ldm->t_C_ldm[0][yi + 12]);
            simd_load(acc04, &ldm->t_C_ldm[0][yi + 16]);
            simd_load(acc05, &ldm->t_C_ldm[0][yi + 20]);
            simd_load(acc06, &ldm->t_C_ldm[0][yi + 24]);
            simd_load(acc07, &ldm->t_C_ldm[0][yi + 28]);
            simd_load(acc08, &ldm->t_C_ldm[0][yi + 32]);
            simd_load(acc09, &ldm->t_C_ldm[0][yi + 36]);
            simd_load(acc010, &ldm->t_C_ldm[0][yi + 40]);
          }
          for (int ki = 0; ki < 64; ki++) {
            floatv4 a_;
            floatv4 b0_, b1_, b2_, b3_, b4_, b5_, b6_, b7_, b8_, b9_, b10_;
            simd_loade(a_, &ldm->t_A_ldm[0][ki]);
            simd_load(b0_, &ldm->t_B_ldm[ki][yi]);
            simd_load(b1_, &ldm->t_B_ldm[ki][yi + 4]);
            simd_load(b2_, &ldm->t_B_ldm[ki][yi + 8]);
            simd_load(b3_, &ldm->t_B_ldm[ki][yi + 12]);
            simd_load(b4_, &ldm->t_B_ldm[ki][yi + 16]);
            simd_load(b5_, &ldm->t_B_ldm[ki][yi + 20]);
            simd_load(b6_, &ldm->t_B_ldm[ki][yi + 24]);
            simd_load(b7_, &ldm->t_B_ldm[ki][yi + 28]);
            simd_load(b8_, &ldm->t_B_ldm[ki][yi + 32]);
            simd_load(b9_, &ldm->t_B_ldm[ki][yi + 36]);
            simd_load(b10_, &ldm->t_B_ldm[ki][yi + 40]);
            acc00 = simd_vmas(a_, b0_, acc00);
            acc01 = simd_vmas(a_, b1_, acc01);
            acc02 = simd_vmas(a_, b2_, acc02);
            acc03 = simd_vmas(a_, b3_, acc03);
            acc04 = simd_vmas(a_, b4_, acc04);
            acc05 = simd_vmas(a_, b5_, acc05);
            acc06 = simd_vmas(a_, b6_, acc06);
            acc07 = simd_vmas(a_, b7_, acc07);
            acc08 = simd_vmas(a_, b8_, acc08);
            acc09 = simd_vmas(a_, b9_, acc09);
            acc010 = simd_vmas(a_, b10_, acc010);
          }
          simd_store(acc00, &ldm->t_C_ldm[0][yi]);
          simd_store(acc01, &ldm->t_C_ldm[0][yi + 4]);
          simd_store(acc02, &ldm->t_C_ldm[0][yi + 8]);
          simd_store(acc03, &ldm->t_C_ldm[0][yi + 12]);
          simd_store(acc04, &ldm->t_C_ldm[0][yi + 16]);
          simd_store(acc05, &ldm->t_C_ldm[0][yi + 20]);
          simd_store(acc06, &ldm->t_C_ldm[0][yi + 24]);
          simd_store(acc07, &ldm->t_C_ldm[0][yi + 28]);
          simd_store(acc08, &ldm->t_C_ldm[0][yi + 32]);
          simd_store(acc09, &ldm->t_C_ldm[0][yi + 36]);
          simd_store(acc010, &ldm->t_C_ldm[0][yi + 40]);
        }
        {
          floatv4 acc00, acc01, acc02, acc03, acc04, acc05, acc06, acc07, acc08, acc09;
          if (ko == 0) {
            acc00 = acc01 = acc02 = acc03 = acc04 = acc05 = acc06 = acc07 = acc08 = acc09 = simd_set_floatv4(0.0f, 0.0f, 0.0f, 0.0f);
          } else {
            simd_load(acc00, &ldm->t_C_ldm[0][88]);
            simd_load(acc01, &ldm->t_C_ldm[0][92]);
            simd_load(acc02, &ldm->t_C_ldm[0][96]);
            simd_load(acc03, &ldm->t_C_ldm[0][100]);
            simd_load(acc04, &ldm->t_C_ldm[0][104]);
            simd_load(acc05, &ldm->t_C_ldm[0][108]);
            simd_load(acc06, &ldm->t_C_ldm[0][112]);
            simd_load(acc07, &ldm->t_C_ldm[0][116]);
            simd_load(acc08, &ldm->t_C_ldm[0][120]);
            simd_load(acc09, &ldm->t_C_ldm[0][124]);
          }
          for (int ki = 0; ki < 64; ki++) {
            floatv4 a_;
            floatv4 b0_, b1_, b2_, b3_, b4_, b5_, b6_, b7_, b8_, b9_;
            simd_loade(a_, &ldm->t_A_ldm[0][ki]);
            simd_load(b0_, &ldm->t_B_ldm[ki][88]);
            simd_load(b1_, &ldm->t_B_ldm[ki][92]);
            simd_load(b2_, &ldm->t_B_ldm[ki][96]);
            simd_load(b3_, &ldm->t_B_ldm[ki][100]);
            simd_load(b4_, &ldm->t_B_ldm[ki][104]);
            simd_load(b5_, &ldm->t_B_ldm[ki][108]);
            simd_load(b6_, &ldm->t_B_ldm[ki][112]);
            simd_load(b7_, &ldm->t_B_ldm[ki][116]);
            simd_load(b8_, &ldm->t_B_ldm[ki][120]);
            simd_load(b9_, &ldm->t_B_ldm[ki][124]);
            acc00 = simd_vmas(a_, b0_, acc00);
            acc01 = simd_vmas(a_, b1_, acc01);
            acc02 = simd_vmas(a_, b2_, acc02);
            acc03 = simd_vmas(a_, b3_, acc03);
            acc04 = simd_vmas(a_, b4_, acc04);
            acc05 = simd_vmas(a_, b5_, acc05);
            acc06 = simd_vmas(a_, b6_, acc06);
            acc07 = simd_vmas(a_, b7_, acc07);
            acc08 = simd_vmas(a_, b8_, acc08);
            acc09 = simd_vmas(a_, b9_, acc09);
          }
          simd_store(acc00, &ldm->t_C_ldm[0][88]);
          simd_store(acc01, &ldm->t_C_ldm[0][92]);
          simd_store(acc02, &ldm->t_C_ldm[0][96]);
          simd_store(acc03, &ldm->t_C_ldm[0][100]);
          simd_store(acc04, &ldm->t_C_ldm[0][104]);
          simd_store(acc05, &ldm->t_C_ldm[0][108]);
          simd_store(acc06, &ldm->t_C_ldm[0][112]);
          simd_store(acc07, &ldm->t_C_ldm[0][116]);
          simd_store(acc08, &ldm->t_C_ldm[0][120]);
          simd_store(acc09, &ldm->t_C_ldm[0][124]);
        }
      }
      /* put C[x .. +1][y_at .. +128]: C inside yo */
      ldm->reply_C = 0;
      athread_put(PE_MODE, ldm->t_C_ldm, t_C + 1024 * x + y_at, 512, (void *)&ldm->reply_C, 0, 0);
      dma_wait(&ldm->reply_C, 1);
    }
  }
}
