/*
 * pool_1e9b3405: compute-core function of layer layer_pool
 *
 *   input concat f32[1,16,8,8]
 *   output pool f32[1,16,1,1]
 *   pool: pool[n<1, c<16, yy<1, xx<1] = sum_{ry<8, rx<8} concat[n, c, yy + ry, xx + rx]
 *     finish (acc / 64.0)
 *
 * cores    16: c in 16 parts
 * buffers  concat_ldm of concat: [1,1,8,8], 256 bytes at 0
 *          pool_ldm of pool: [1,1,1,1], 4 bytes at 256
 * LDM      288 bytes of buffers
 * loops    none
 * DMA      get concat outside all loops
 *          put pool outside all loops
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slave.h"
#include "dma.h"
#include "simd.h"
#include "layers_mix.h"
#include "sw_rt.h"

struct pool_1e9b3405_ldm {
  float concat_ldm[1][1][8][8];  /* concat: 256 bytes at 0 */
  float pool_ldm[1][1][1][1];  /* pool: 4 bytes at 256 */
  struct pool_1e9b3405_para para;
  volatile unsigned reply_para, reply_concat, reply_pool;
};
SW_CHECK(pool_1e9b3405_concat_ldm_is_in_place, offsetof(struct pool_1e9b3405_ldm, concat_ldm) == 0);
SW_CHECK(pool_1e9b3405_pool_ldm_is_in_place, offsetof(struct pool_1e9b3405_ldm, pool_ldm) == 256);
SW_CHECK(pool_1e9b3405_buffers_fit, 260 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(pool_1e9b3405_all_fits, sizeof(struct pool_1e9b3405_ldm) <= SW_ARENA_BYTES);

void pool_1e9b3405(void *arg) {
  const int core = athread_get_id(-1);
  if (core >= 16) return;
  struct pool_1e9b3405_ldm *ldm = LDM_OF(struct pool_1e9b3405_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *concat = ldm->para.concat;
  float *pool = ldm->para.pool;

  const int c_core = core;
  /* get concat[0 .. +1][c_core .. +1][0 .. +8][0 .. +8]: concat before the first loop */
  ldm->reply_concat = 0;
  athread_get(PE_MODE, concat + 64 * c_core, ldm->concat_ldm, 256, (void *)&ldm->reply_concat, 0, 0, 0);
  dma_wait(&ldm->reply_concat, 1);
  /* initialisation of pool */
  for (int i = 0; i < 1; i++) ((float *)ldm->pool_ldm)[i] = 0.0f;
  {
    float acc_ = ldm->pool_ldm[0][0][0][0];
    for (int ryi = 0; ryi < 8; ryi++) {
      for (int rxi = 0; rxi < 8; rxi++) {
        acc_ += ldm->concat_ldm[0][0][ryi][rxi];
      }
    }
    ldm->pool_ldm[0][0][0][0] = acc_;
  }
  {
    ldm->pool_ldm[0][0][0][0] = ldm->pool_ldm[0][0][0][0] / 64.0f;
  }
  /* put pool[0 .. +1][c_core .. +1][0 .. +1][0 .. +1]: pool after the last loop */
  ldm->reply_pool = 0;
  athread_put(PE_MODE, ldm->pool_ldm, pool + c_core, 4, (void *)&ldm->reply_pool, 0, 0);
  dma_wait(&ldm->reply_pool, 1);
}
