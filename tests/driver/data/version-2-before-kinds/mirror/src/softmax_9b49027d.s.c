/*
 * softmax_9b49027d: compute-core function of layer layer_softmax
 *
 *   input wide f32[3,2900]
 *   output y f32[3,2900]
 *   intermediate M f32[3]
 *   intermediate S f32[3]
 *   softmax_max: M[i0<3] = max_{r0<2900} wide[i0, r0]
 *   softmax_sum: S[i0<3] = sum_{r0<2900} exp((wide[i0, r0] - M[i0]))
 *   softmax_normalize: y[i0<3, i1<2900] = (exp((wide[i0, i1] - M[i0])) / S[i0])
 *
 * cores    30: i0 in 3 parts, i1 in 10 parts
 * buffers  t_wide_ldm of wide: 2 slots of [1,116], 960 bytes at 0
 *          t_M_ldm of M: [1], 4 bytes at 960
 *          t_wide_2_ldm of wide: 2 slots of [1,64], 512 bytes at 992
 *          t_S_ldm of S: [1], 4 bytes at 1504
 *          t_wide_3_ldm of wide: 2 slots of [1,32], 256 bytes at 1536
 *          t_y_ldm of y: 2 slots of [1,32], 256 bytes at 1792
 * LDM      2048 bytes of buffers
 * loops    r0o, t_r02o, i1o
 * DMA      get wide outside all loops
 *          get wide inside r0o
 *          get wide outside all loops
 *          get wide inside t_r02o
 *          get wide outside all loops
 *          get wide inside i1o
 *          put y inside i1o
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slave.h"
#include "dma.h"
#include "simd.h"
#include "layers_mix.h"
#include "sw_rt.h"

struct softmax_9b49027d_ldm {
  struct { float box[1][116]; char gap_[16]; } t_wide_ldm[2];  /* wide: 960 bytes at 0 */
  float t_M_ldm[1];  /* M: 4 bytes at 960 */
  char gap0_[28];
  float t_wide_2_ldm[2][1][64];  /* wide: 512 bytes at 992 */
  float t_S_ldm[1];  /* S: 4 bytes at 1504 */
  char gap1_[28];
  float t_wide_3_ldm[2][1][32];  /* wide: 256 bytes at 1536 */
  float t_y_ldm[2][1][32];  /* y: 256 bytes at 1792 */
  struct softmax_9b49027d_para para;
  volatile unsigned reply_para, reply_wide[2], reply_wide_2[2], reply_wide_3[2], reply_y[2];
};
SW_CHECK(softmax_9b49027d_t_wide_ldm_is_in_place, offsetof(struct softmax_9b49027d_ldm, t_wide_ldm) == 0);
SW_CHECK(softmax_9b49027d_t_M_ldm_is_in_place, offsetof(struct softmax_9b49027d_ldm, t_M_ldm) == 960);
SW_CHECK(softmax_9b49027d_t_wide_2_ldm_is_in_place, offsetof(struct softmax_9b49027d_ldm, t_wide_2_ldm) == 992);
SW_CHECK(softmax_9b49027d_t_S_ldm_is_in_place, offsetof(struct softmax_9b49027d_ldm, t_S_ldm) == 1504);
SW_CHECK(softmax_9b49027d_t_wide_3_ldm_is_in_place, offsetof(struct softmax_9b49027d_ldm, t_wide_3_ldm) == 1536);
SW_CHECK(softmax_9b49027d_t_y_ldm_is_in_place, offsetof(struct softmax_9b49027d_ldm, t_y_ldm) == 1792);
SW_CHECK(softmax_9b49027d_buffers_fit, 2048 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(softmax_9b49027d_all_fits, sizeof(struct softmax_9b49027d_ldm) <= SW_ARENA_BYTES);

void softmax_9b49027d(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 30) return;
  struct softmax_9b49027d_ldm *ldm = LDM_OF(struct softmax_9b49027d_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *t_wide = ldm->para.t_wide;
  float *t_y = ldm->para.t_y;

  const int i0_core = core / 10;
  const int i1_core = core % 10;
  int issued_wide[2] = {0};
  int issued_wide_2[2] = {0};
  /* initialisation of M */
  for (int i = 0; i < 1; i++) ((float *)ldm->t_M_ldm)[i] = (-INFINITY);
  /* get wide[i0_core .. +1][0 .. +116]: wide inside r0o, of the first trip */
  ldm->reply_wide[0] = 0;
  athread_get(PE_MODE, t_wide + 2900 * i0_core, ldm->t_wide_ldm[0].box, 464, (void *)&ldm->reply_wide[0], 0, 0, 0);
  for (int r0o = 0; r0o < 25; r0o++) {
    dma_wait(&ldm->reply_wide[r0o % 2], 1);
    if (24 - r0o > 0) {
      /* get wide[i0_core .. +1][116 * r0o + 116 .. +116]: wide inside r0o, of the next trip */
      ldm->reply_wide[(r0o + 1) % 2] = 0;
      athread_get(PE_MODE, t_wide + 2900 * i0_core + 116 * r0o + 116, ldm->t_wide_ldm[(r0o + 1) % 2].box, 464, (void *)&ldm->reply_wide[(r0o + 1) % 2], 0, 0, 0);
    }
    {
      float acc_ = ldm->t_M_ldm[0];
      for (int r0i = 0; r0i < 116; r0i++) {
        acc_ = sw_max_float(acc_, ldm->t_wide_ldm[r0o % 2].box[0][r0i]);
      }
      ldm->t_M_ldm[0] = acc_;
    }
  }
  /* initialisation of S */
  for (int i = 0; i < 1; i++) ((float *)ldm->t_S_ldm)[i] = 0.0f;
  /* get wide[i0_core .. +1][0 .. +64]: wide_2 inside r02o, of the first trip */
  ldm->reply_wide_2[0] = 0;
  issued_wide[0] = 1;
  athread_get(PE_MODE, t_wide + 2900 * i0_core, ldm->t_wide_2_ldm[0], 256, (void *)&ldm->reply_wide_2[0], 0, 0, 0);
  for (int t_r02o = 0; t_r02o < 46; t_r02o++) {
    const int t_r02_n = sw_min(64, 2900 - 64 * t_r02o);
    dma_wait(&ldm->reply_wide_2[t_r02o % 2], issued_wide[t_r02o % 2]);
    if (45 - t_r02o > 0) {
      /* get wide[i0_core .. +1][64 * t_r02o + 64 .. +sw_min(64, 2836 - 64 * t_r02o)]: wide_2 inside r02o, of the next trip */
      ldm->reply_wide_2[(t_r02o + 1) % 2] = 0;
      {
        const int n1_ = sw_min(64, 2836 - 64 * t_r02o);
        issued_wide[(t_r02o + 1) % 2] = 0;
        if (n1_ > 0) {
          issued_wide[(t_r02o + 1) % 2] = 1;
          athread_get(PE_MODE, t_wide + 2900 * i0_core + 64 * t_r02o + 64, ldm->t_wide_2_ldm[(t_r02o + 1) % 2], 4 * n1_, (void *)&ldm->reply_wide_2[(t_r02o + 1) % 2], 0, 0, 0);
        }
      }
    }
    {
      float acc_ = ldm->t_S_ldm[0];
      for (int r0i = 0; r0i < t_r02_n; r0i++) {
        acc_ += expf((ldm->t_wide_2_ldm[t_r02o % 2][0][r0i] - ldm->t_M_ldm[0]));
      }
      ldm->t_S_ldm[0] = acc_;
    }
  }
  /* get wide[i0_core .. +1][290 * i1_core .. +32]: wide_3 inside i1o, of the first trip */
  ldm->reply_wide_3[0] = 0;
  issued_wide_2[0] = 1;
  athread_get(PE_MODE, t_wide + 2900 * i0_core + 290 * i1_core, ldm->t_wide_3_ldm[0], 128, (void *)&ldm->reply_wide_3[0], 0, 0, 0);
  for (int i1o = 0; i1o < 10; i1o++) {
    const int i1_at = 290 * i1_core + 32 * i1o;
    const int i1_n = sw_min(32, 290 - 32 * i1o);
    dma_wait(&ldm->reply_wide_3[i1o % 2], issued_wide_2[i1o % 2]);
    if (9 - i1o > 0) {
      /* get wide[i0_core .. +1][290 * i1_core + 32 * i1o + 32 .. +sw_min(32, 258 - 32 * i1o)]: wide_3 inside i1o, of the next trip */
      ldm->reply_wide_3[(i1o + 1) % 2] = 0;
      {
        const int n1_ = sw_min(32, 258 - 32 * i1o);
        issued_wide_2[(i1o + 1) % 2] = 0;
        if (n1_ > 0) {
          issued_wide_2[(i1o + 1) % 2] = 1;
          athread_get(PE_MODE, t_wide + 2900 * i0_core + 290 * i1_core + 32 * i1o + 32, ldm->t_wide_3_ldm[(i1o + 1) % 2], 4 * n1_, (void *)&ldm->reply_wide_3[(i1o + 1) % 2], 0, 0, 0);
        }
      }
    }
    if (i1o - 1 > 0) {
      dma_wait(&ldm->reply_y[i1o % 2], 1);
    }
    if (i1_n == 32) {
      for (int i1i = 0; i1i < 32; i1i++) {
        ldm->t_y_ldm[i1o % 2][0][i1i] = expf((ldm->t_wide_3_ldm[i1o % 2][0][i1i] - ldm->t_M_ldm[0])) / ldm->t_S_ldm[0];
      }
    } else {
      for (int i1i = 0; i1i < i1_n; i1i++) {
        ldm->t_y_ldm[i1o % 2][0][i1i] = expf((ldm->t_wide_3_ldm[i1o % 2][0][i1i] - ldm->t_M_ldm[0])) / ldm->t_S_ldm[0];
      }
    }
    /* put y[i0_core .. +1][i1_at .. +i1_n]: y inside i1o */
    ldm->reply_y[i1o % 2] = 0;
    athread_put(PE_MODE, ldm->t_y_ldm[i1o % 2], t_y + 2900 * i0_core + i1_at, 4 * i1_n, (void *)&ldm->reply_y[i1o % 2], 0, 0);
  }
  dma_wait(&ldm->reply_y[0], 1);
  dma_wait(&ldm->reply_y[1], 1);
}
