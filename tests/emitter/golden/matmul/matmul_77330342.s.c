/*
 * matmul_77330342: compute-core function of layer layer_matmul
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
#include "sw_vectors.h"

struct matmul_77330342_ldm {
  float t_A_ldm[1][64];  /* A: 256 bytes at 0 */
  float t_B_ldm[64][128];  /* B: 32768 bytes at 256 */
  float t_C_ldm[1][128];  /* C: 512 bytes at 33024 */
  struct matmul_77330342_para para;
  volatile unsigned reply_para, reply_A, reply_B, reply_C;
};
SW_CHECK(matmul_77330342_t_A_ldm_is_in_place, offsetof(struct matmul_77330342_ldm, t_A_ldm) == 0);
SW_CHECK(matmul_77330342_t_B_ldm_is_in_place, offsetof(struct matmul_77330342_ldm, t_B_ldm) == 256);
SW_CHECK(matmul_77330342_t_C_ldm_is_in_place, offsetof(struct matmul_77330342_ldm, t_C_ldm) == 33024);
SW_CHECK(matmul_77330342_buffers_fit, 33536 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(matmul_77330342_all_fits, sizeof(struct matmul_77330342_ldm) <= SW_ARENA_BYTES);

void matmul_77330342(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 1) return;
  struct matmul_77330342_ldm *ldm = LDM_OF(struct matmul_77330342_ldm);

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
          SW_VECTORS4(acc0);
          SW_VECTORS4(acc0_4);
          SW_VECTORS3(acc0_8);
          if (ko == 0) {
            SW_SET4(acc0, 0.0f);
            SW_SET4(acc0_4, 0.0f);
            SW_SET3(acc0_8, 0.0f);
          } else {
            SW_LOAD4(acc0, &ldm->t_C_ldm[0][yi]);
            SW_LOAD4(acc0_4, &ldm->t_C_ldm[0][yi + 16]);
            SW_LOAD3(acc0_8, &ldm->t_C_ldm[0][yi + 32]);
          }
          for (int ki = 0; ki < 64; ki++) {
            floatv4 a_;
            SW_VECTORS4(b_v);
            SW_VECTORS4(b_v_4);
            SW_VECTORS3(b_v_8);
            simd_loade(a_, &ldm->t_A_ldm[0][ki]);
            SW_LOAD4(b_v, &ldm->t_B_ldm[ki][yi]);
            SW_LOAD4(b_v_4, &ldm->t_B_ldm[ki][yi + 16]);
            SW_LOAD3(b_v_8, &ldm->t_B_ldm[ki][yi + 32]);
            SW_MAS4(acc0, a_, b_v);
            SW_MAS4(acc0_4, a_, b_v_4);
            SW_MAS3(acc0_8, a_, b_v_8);
          }
          SW_STORE4(acc0, &ldm->t_C_ldm[0][yi]);
          SW_STORE4(acc0_4, &ldm->t_C_ldm[0][yi + 16]);
          SW_STORE3(acc0_8, &ldm->t_C_ldm[0][yi + 32]);
        }
        {
          SW_VECTORS4(acc0);
          SW_VECTORS4(acc0_4);
          SW_VECTORS2(acc0_8);
          if (ko == 0) {
            SW_SET4(acc0, 0.0f);
            SW_SET4(acc0_4, 0.0f);
            SW_SET2(acc0_8, 0.0f);
          } else {
            SW_LOAD4(acc0, &ldm->t_C_ldm[0][88]);
            SW_LOAD4(acc0_4, &ldm->t_C_ldm[0][104]);
            SW_LOAD2(acc0_8, &ldm->t_C_ldm[0][120]);
          }
          for (int ki = 0; ki < 64; ki++) {
            floatv4 a_;
            SW_VECTORS4(b_v);
            SW_VECTORS4(b_v_4);
            SW_VECTORS2(b_v_8);
            simd_loade(a_, &ldm->t_A_ldm[0][ki]);
            SW_LOAD4(b_v, &ldm->t_B_ldm[ki][88]);
            SW_LOAD4(b_v_4, &ldm->t_B_ldm[ki][104]);
            SW_LOAD2(b_v_8, &ldm->t_B_ldm[ki][120]);
            SW_MAS4(acc0, a_, b_v);
            SW_MAS4(acc0_4, a_, b_v_4);
            SW_MAS2(acc0_8, a_, b_v_8);
          }
          SW_STORE4(acc0, &ldm->t_C_ldm[0][88]);
          SW_STORE4(acc0_4, &ldm->t_C_ldm[0][104]);
          SW_STORE2(acc0_8, &ldm->t_C_ldm[0][120]);
        }
      }
      /* put C[x .. +1][y_at .. +128]: C inside yo */
      ldm->reply_C = 0;
      athread_put(PE_MODE, ldm->t_C_ldm, t_C + 1024 * x + y_at, 512, (void *)&ldm->reply_C, 0, 0);
      dma_wait(&ldm->reply_C, 1);
    }
  }
}
