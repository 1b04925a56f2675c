/*
 * matmul_44f08784: compute-core function of layer layer_matmul
 *
 *   input A f32[1,1024]
 *   input B f32[1024,1024]
 *   output C f32[1,1024]
 *   matmul: C[x<1, y<1024] = sum_{k<1024} (A[x, k] * B[k, y])
 *
 * cores    8: y in 8 parts
 * buffers  t_A_ldm of A: [1,114], 456 bytes at 0
 *          t_B_ldm of B: [114,128], 58368 bytes at 480
 *          t_C_ldm of C: [1,128], 512 bytes at 58848
 * LDM      59360 bytes of buffers
 * loops    ko
 * DMA      get A inside ko
 *          get B inside ko
 *          put C outside all loops
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slave.h"
#include "dma.h"
#include "simd.h"
#include "layers_mix.h"
#include "sw_rt.h"

struct matmul_44f08784_ldm {
  float t_A_ldm[1][114];  /* A: 456 bytes at 0 */
  char gap0_[24];
  float t_B_ldm[114][128];  /* B: 58368 bytes at 480 */
  float t_C_ldm[1][128];  /* C: 512 bytes at 58848 */
  struct matmul_44f08784_para para;
  volatile unsigned reply_para, reply_A, reply_B, reply_C;
};
SW_CHECK(matmul_44f08784_t_A_ldm_is_in_place, offsetof(struct matmul_44f08784_ldm, t_A_ldm) == 0);
SW_CHECK(matmul_44f08784_t_B_ldm_is_in_place, offsetof(struct matmul_44f08784_ldm, t_B_ldm) == 480);
SW_CHECK(matmul_44f08784_t_C_ldm_is_in_place, offsetof(struct matmul_44f08784_ldm, t_C_ldm) == 58848);
SW_CHECK(matmul_44f08784_buffers_fit, 59360 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(matmul_44f08784_all_fits, sizeof(struct matmul_44f08784_ldm) <= SW_ARENA_BYTES);

void matmul_44f08784(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 8) return;
  struct matmul_44f08784_ldm *ldm = LDM_OF(struct matmul_44f08784_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *t_A = ldm->para.t_A;
  float *t_B = ldm->para.t_B;
  float *t_C = ldm->para.t_C;

  const int y_core = core;
  const int y_at = 128 * y_core;
  /* initialisation of C */
  for (int i = 0; i < 128; i++) ((float *)ldm->t_C_ldm)[i] = 0.0f;
  for (int ko = 0; ko < 9; ko++) {
    const int k_at = 114 * ko;
    const int k_n = sw_min(114, 1024 - 114 * ko);
    /* get A[0 .. +1][k_at .. +k_n]: A inside ko */
    ldm->reply_A = 0;
    athread_get(PE_MODE, t_A + k_at, ldm->t_A_ldm, 4 * k_n, (void *)&ldm->reply_A, 0, 0, 0);
    /* get B[k_at .. +k_n][y_at .. +128]: B inside ko */
    ldm->reply_B = 0;
    athread_get(PE_MODE, t_B + y_at + 1024 * k_at, ldm->t_B_ldm, 512 * k_n, (void *)&ldm->reply_B, 0, 3584, 512);
    dma_wait(&ldm->reply_A, 1);
    dma_wait(&ldm->reply_B, 1);
    {
      for (int yi = 0; yi < 128; yi += 16) {
        floatv4 acc00, acc01, acc02, acc03;
        simd_load(acc00, &ldm->t_C_ldm[0][yi]);
        simd_load(acc01, &ldm->t_C_ldm[0][yi + 4]);
        simd_load(acc02, &ldm->t_C_ldm[0][yi + 8]);
        simd_load(acc03, &ldm->t_C_ldm[0][yi + 12]);
        for (int ki = 0; ki < k_n; ki++) {
          floatv4 a_;
          floatv4 b0_, b1_, b2_, b3_;
          simd_loade(a_, &ldm->t_A_ldm[0][ki]);
          simd_load(b0_, &ldm->t_B_ldm[ki][yi]);
          simd_load(b1_, &ldm->t_B_ldm[ki][yi + 4]);
          simd_load(b2_, &ldm->t_B_ldm[ki][yi + 8]);
          simd_load(b3_, &ldm->t_B_ldm[ki][yi + 12]);
          acc00 = simd_vmas(a_, b0_, acc00);
          acc01 = simd_vmas(a_, b1_, acc01);
          acc02 = simd_vmas(a_, b2_, acc02);
          acc03 = simd_vmas(a_, b3_, acc03);
        }
        simd_store(acc00, &ldm->t_C_ldm[0][yi]);
        simd_store(acc01, &ldm->t_C_ldm[0][yi + 4]);
        simd_store(acc02, &ldm->t_C_ldm[0][yi + 8]);
        simd_store(acc03, &ldm->t_C_ldm[0][yi + 12]);
      }
    }
  }
  /* put C[0 .. +1][y_at .. +128]: C after the last loop */
  ldm->reply_C = 0;
  athread_put(PE_MODE, ldm->t_C_ldm, t_C + y_at, 512, (void *)&ldm->reply_C, 0, 0);
  dma_wait(&ldm->reply_C, 1);
}
