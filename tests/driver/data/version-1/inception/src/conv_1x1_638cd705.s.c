/*
 * conv_1x1_638cd705: compute-core function of layer layer_conv_1x1
 *
 *   input data f32[1,8,8,8]
 *   constant conv_3x3_reduce_weight_stack f32[12,8,1,1]
 *   constant conv_3x3_reduce_bias_stack f32[12]
 *   intermediate conv_3x3_reduce f32[1,12,8,8]
 *   output relu_3x3_reduce_stack f32[1,12,8,8]
 *   conv_3x3_reduce: conv_3x3_reduce[n<1, ff<12, yy<8, xx<8] = sum_{rc<8, ry<1, rx<1} (data[n, rc, yy + ry, xx + rx] * conv_3x3_reduce_weight_stack[ff, rc, ry, rx])
 *     finish (acc + conv_3x3_reduce_bias_stack[ff])
 *   relu_3x3_reduce: relu_3x3_reduce_stack[n<1, ff<12, yy<8, xx<8] = max(conv_3x3_reduce[n, ff, yy, xx], 0.0)
 *
 * cores    64: ff in 4 parts, yy in 8 parts, xx in 2 parts
 * buffers  data_ldm of data: [1,8,1,4], 128 bytes at 0
 *          conv_3x3_reduce_weight_stack_ldm of conv_3x3_reduce_weight_stack: [3,8,1,1], 96 bytes at 128
 *          conv_3x3_reduce_bias_stack_ldm of conv_3x3_reduce_bias_stack: [3], 12 bytes at 224
 *          conv_3x3_reduce_ldm of conv_3x3_reduce: [1,3,1,4], 48 bytes at 256
 *          relu_3x3_reduce_stack_ldm of relu_3x3_reduce_stack: [1,3,1,4], 48 bytes at 256
 * LDM      320 bytes of buffers
 * loops    none
 * DMA      get data outside all loops
 *          get conv_3x3_reduce_weight_stack outside all loops
 *          get conv_3x3_reduce_bias_stack outside all loops
 *          put relu_3x3_reduce_stack outside all loops
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slave.h"
#include "dma.h"
#include "simd.h"
#include "layers_mix.h"
#include "sw_rt.h"

struct conv_1x1_638cd705_ldm {
  float data_ldm[1][8][1][4];  /* data: 128 bytes at 0 */
  float conv_3x3_reduce_weight_stack_ldm[3][8][1][1];  /* conv_3x3_reduce_weight_stack: 96 bytes at 128 */
  float conv_3x3_reduce_bias_stack_ldm[3];  /* conv_3x3_reduce_bias_stack: 12 bytes at 224 */
  char gap0_[20];
  union {
    float conv_3x3_reduce_ldm[1][3][1][4];  /* conv_3x3_reduce: 48 bytes at 256 */
    float relu_3x3_reduce_stack_ldm[1][3][1][4];  /* relu_3x3_reduce_stack: 48 bytes at 256 */
  };
  struct conv_1x1_638cd705_para para;
  volatile unsigned reply_para, reply_data, reply_conv_3x3_reduce_weight_stack, reply_conv_3x3_reduce_bias_stack, reply_relu_3x3_reduce_stack;
};
SW_CHECK(conv_1x1_638cd705_data_ldm_is_in_place, offsetof(struct conv_1x1_638cd705_ldm, data_ldm) == 0);
SW_CHECK(conv_1x1_638cd705_conv_3x3_reduce_weight_stack_ldm_is_in_place, offsetof(struct conv_1x1_638cd705_ldm, conv_3x3_reduce_weight_stack_ldm) == 128);
SW_CHECK(conv_1x1_638cd705_conv_3x3_reduce_bias_stack_ldm_is_in_place, offsetof(struct conv_1x1_638cd705_ldm, conv_3x3_reduce_bias_stack_ldm) == 224);
SW_CHECK(conv_1x1_638cd705_conv_3x3_reduce_ldm_is_in_place, offsetof(struct conv_1x1_638cd705_ldm, conv_3x3_reduce_ldm) == 256);
SW_CHECK(conv_1x1_638cd705_relu_3x3_reduce_stack_ldm_is_in_place, offsetof(struct conv_1x1_638cd705_ldm, relu_3x3_reduce_stack_ldm) == 256);
SW_CHECK(conv_1x1_638cd705_buffers_fit, 304 <= SW_LDM_BYTES - SW_LDM_RESERVED);
SW_CHECK(conv_1x1_638cd705_all_fits, sizeof(struct conv_1x1_638cd705_ldm) <= SW_ARENA_BYTES);

void conv_1x1_638cd705(void *arg) {
  const int core = athread_get_id(-1);
  struct conv_1x1_638cd705_ldm *ldm = LDM_OF(struct conv_1x1_638cd705_ldm);

  /* the parameters: where the tensors are in main memory */
  ldm->reply_para = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof ldm->para, (void *)&ldm->reply_para, 0, 0, 0);
  dma_wait(&ldm->reply_para, 1);
  float *data = ldm->para.data;
  float *conv_3x3_reduce_weight_stack = ldm->para.conv_3x3_reduce_weight_stack;
  float *conv_3x3_reduce_bias_stack = ldm->para.conv_3x3_reduce_bias_stack;
  float *relu_3x3_reduce_stack = ldm->para.relu_3x3_reduce_stack;

  const int ff_core = core / 16;
  const int yy_core = core / 2 % 8;
  const int xx_core = core % 2;
  const int ff_at = 3 * ff_core;
  const int xx_at = 4 * xx_core;
  /* get data[0 .. +1][0 .. +8][yy_core .. +1][xx_at .. +4]: data before the first loop */
  ldm->reply_data = 0;
  athread_get(PE_MODE, data + 8 * yy_core + xx_at, ldm->data_ldm, 128, (void *)&ldm->reply_data, 0, 240, 16);
  /* get conv_3x3_reduce_weight_stack[ff_at .. +3][0 .. +8][0 .. +1][0 .. +1]: conv_3x3_reduce_weight_stack before the first loop */
  ldm->reply_conv_3x3_reduce_weight_stack = 0;
  athread_get(PE_MODE, conv_3x3_reduce_weight_stack + 8 * ff_at, ldm->conv_3x3_reduce_weight_stack_ldm, 96, (void *)&ldm->reply_conv_3x3_reduce_weight_stack, 0, 0, 0);
  /* get conv_3x3_reduce_bias_stack[ff_at .. +3]: conv_3x3_reduce_bias_stack before the first loop */
  ldm->reply_conv_3x3_reduce_bias_stack = 0;
  athread_get(PE_MODE, conv_3x3_reduce_bias_stack + ff_at, ldm->conv_3x3_reduce_bias_stack_ldm, 12, (void *)&ldm->reply_conv_3x3_reduce_bias_stack, 0, 0, 0);
  dma_wait(&ldm->reply_data, 1);
  dma_wait(&ldm->reply_conv_3x3_reduce_weight_stack, 1);
  dma_wait(&ldm->reply_conv_3x3_reduce_bias_stack, 1);
  /* initialisation of conv_3x3_reduce */
  for (int i = 0; i < 12; i++) ((float *)ldm->conv_3x3_reduce_ldm)[i] = 0.0f;
  {
    floatv4 acc00;
    floatv4 acc10;
    floatv4 acc20;
    simd_load(acc00, &ldm->conv_3x3_reduce_ldm[0][0][0][0]);
    simd_load(acc10, &ldm->conv_3x3_reduce_ldm[0][1][0][0]);
    simd_load(acc20, &ldm->conv_3x3_reduce_ldm[0][2][0][0]);
    for (int rci = 0; rci < 8; rci++) {
      floatv4 a0_;
      floatv4 b0_, b1_, b2_;
      simd_load(a0_, &ldm->data_ldm[0][rci][0][0]);
      simd_loade(b0_, &ldm->conv_3x3_reduce_weight_stack_ldm[0][rci][0][0]);
      acc00 = simd_vmas(a0_, b0_, acc00);
      simd_loade(b1_, &ldm->conv_3x3_reduce_weight_stack_ldm[1][rci][0][0]);
      acc10 = simd_vmas(a0_, b1_, acc10);
      simd_loade(b2_, &ldm->conv_3x3_reduce_weight_stack_ldm[2][rci][0][0]);
      acc20 = simd_vmas(a0_, b2_, acc20);
    }
    simd_store(acc00, &ldm->conv_3x3_reduce_ldm[0][0][0][0]);
    simd_store(acc10, &ldm->conv_3x3_reduce_ldm[0][1][0][0]);
    simd_store(acc20, &ldm->conv_3x3_reduce_ldm[0][2][0][0]);
  }
  for (int ffi = 0; ffi < 3; ffi++) {
    for (int xxi = 0; xxi < 4; xxi++) {
      ldm->conv_3x3_reduce_ldm[0][ffi][0][xxi] = ldm->conv_3x3_reduce_ldm[0][ffi][0][xxi] + ldm->conv_3x3_reduce_bias_stack_ldm[ffi];
    }
  }
  for (int ffi = 0; ffi < 3; ffi++) {
    for (int xxi = 0; xxi < 4; xxi++) {
      ldm->relu_3x3_reduce_stack_ldm[0][ffi][0][xxi] = sw_max_float(ldm->conv_3x3_reduce_ldm[0][ffi][0][xxi], 0.0f);
    }
  }
  /* put relu_3x3_reduce_stack[0 .. +1][ff_at .. +3][yy_core .. +1][xx_at .. +4]: relu_3x3_reduce_stack after the last loop */
  ldm->reply_relu_3x3_reduce_stack = 0;
  athread_put(PE_MODE, ldm->relu_3x3_reduce_stack_ldm, relu_3x3_reduce_stack + 8 * yy_core + 64 * ff_at + xx_at, 48, (void *)&ldm->reply_relu_3x3_reduce_stack, 240, 16);
  dma_wait(&ldm->reply_relu_3x3_reduce_stack, 1);
}
