/*
 * relu_64023310: compute-core function of layer layer_relu
 *
 *   input x f32[4500]
 *   output positive f32[4500]
 *   relu: positive[i0_i1<4500] = max(x[i0_i1], 0.0)
 *
 * cores    47: i0_i1 in 47 parts
 * buffers  t_x_ldm of x: [96], 384 bytes at 0
 *          t_positive_ldm of positive: [96], 384 bytes at 384
 * LDM      768 bytes of buffers
 * loops    none
 * DMA      get x outside all loops
 *          put positive outside all loops
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slave.h"
#include "dma.h"
#include "simd.h"
#include "layers_mix.h"
#include "sw_rt.h"

struct relu_64023310_ldm {
  float t_x_ldm[96];  /* x: 384 bytes at 0 */
  float t_positive_ldm[96];  /* positive: 384 bytes at 384 */
  struct relu_64023310_para para;
  volatile unsigned reply_para, reply_x, reply_positive;
};
SW_CHECK(relu_64023310_t_x_ldm_is_in_place, offsetof(struct relu_64023310_ldm, t_x_ldm) == 0);
SW_CHECK(relu_64023310_t_positive_ldm_is_in_place, offsetof(struct relu_64023310_ldm, t_positive_ldm) == 384);
SW_CHECK(relu_64023310_buffers_fit, 768 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(relu_64023310_all_fits, sizeof(struct relu_64023310_ldm) <= SW_ARENA_BYTES);

void relu_64023310(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 47) return;
  struct relu_64023310_ldm *ldm = LDM_OF(struct relu_64023310_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *t_x = ldm->para.t_x;
  float *t_positive = ldm->para.t_positive;

  const int i0_i1_core = core;
  const int i0_i1_at = 96 * i0_i1_core;
  const int i0_i1_n = sw_min(96, 4500 - 96 * i0_i1_core);
  /* get x[i0_i1_at .. +i0_i1_n]: x before the first loop */
  ldm->reply_x = 0;
  athread_get(PE_MODE, t_x + i0_i1_at, ldm->t_x_ldm, 4 * i0_i1_n, (void *)&ldm->reply_x, 0, 0, 0);
  dma_wait(&ldm->reply_x, 1);
  if (i0_i1_n == 96) {
    for (int i0_i1i = 0; i0_i1i < 96; i0_i1i++) {
      ldm->t_positive_ldm[i0_i1i] = sw_max_float(ldm->t_x_ldm[i0_i1i], 0.0f);
    }
  } else {
    for (int i0_i1i = 0; i0_i1i < i0_i1_n; i0_i1i++) {
      ldm->t_positive_ldm[i0_i1i] = sw_max_float(ldm->t_x_ldm[i0_i1i], 0.0f);
    }
  }
  /* put positive[i0_i1_at .. +i0_i1_n]: positive after the last loop */
  ldm->reply_positive = 0;
  athread_put(PE_MODE, ldm->t_positive_ldm, t_positive + i0_i1_at, 4 * i0_i1_n, (void *)&ldm->reply_positive, 0, 0);
  dma_wait(&ldm->reply_positive, 1);
}
