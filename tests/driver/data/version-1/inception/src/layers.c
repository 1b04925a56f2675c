/* The layers' launches on the compute cores of network inception, for sw26010 (fusion exact, planner swtvm) */
#include "athread.h"
#include "layers.h"
#include "layers_mix.h"

extern void SLAVE_FUN(conv_1x1_638cd705)(void *);
extern void SLAVE_FUN(conv_3x3_8f7d6bea)(void *);
extern void SLAVE_FUN(conv_5x5_3cf51e64)(void *);
extern void SLAVE_FUN(pool_1e9b3405)(void *);
extern void SLAVE_FUN(dense_37864486)(void *);
extern void SLAVE_FUN(prob_a0859bec)(void *);

/* conv_1x1: conv_1x1, relu_1x1, conv_3x3_reduce, relu_3x3_reduce, conv_5x5_reduce, relu_5x5_reduce (sibling_convolutions) */
void layer_conv_1x1(float *data, float *conv_3x3_reduce_weight_stack, float *conv_3x3_reduce_bias_stack, float *relu_3x3_reduce_stack) {
  static struct conv_1x1_638cd705_para para;
  para.data = data;
  para.conv_3x3_reduce_weight_stack = conv_3x3_reduce_weight_stack;
  para.conv_3x3_reduce_bias_stack = conv_3x3_reduce_bias_stack;
  para.relu_3x3_reduce_stack = relu_3x3_reduce_stack;
  athread_spawn(conv_1x1_638cd705, &para);
  athread_join();
}

/* conv_3x3: conv_3x3, relu_3x3 (convolution) */
void layer_conv_3x3(float *relu_3x3_reduce, float *conv_3x3_weight, float *conv_3x3_bias, float *relu_3x3) {
  static struct conv_3x3_8f7d6bea_para para;
  para.relu_3x3_reduce = relu_3x3_reduce;
  para.conv_3x3_weight = conv_3x3_weight;
  para.conv_3x3_bias = conv_3x3_bias;
  para.relu_3x3 = relu_3x3;
  athread_spawn(conv_3x3_8f7d6bea, &para);
  athread_join();
}

/* conv_5x5: conv_5x5, relu_5x5 (convolution) */
void layer_conv_5x5(float *relu_5x5_reduce, float *conv_5x5_weight, float *conv_5x5_bias, float *relu_5x5) {
  static struct conv_5x5_3cf51e64_para para;
  para.relu_5x5_reduce = relu_5x5_reduce;
  para.conv_5x5_weight = conv_5x5_weight;
  para.conv_5x5_bias = conv_5x5_bias;
  para.relu_5x5 = relu_5x5;
  athread_spawn(conv_5x5_3cf51e64, &para);
  athread_join();
}

/* pool: pool (single) */
void layer_pool(float *concat, float *pool) {
  static struct pool_1e9b3405_para para;
  para.concat = concat;
  para.pool = pool;
  athread_spawn(pool_1e9b3405, &para);
  athread_join();
}

/* dense: dense (matmul) */
void layer_dense(float *flatten, float *dense_weight_transposed, float *dense_bias, float *dense) {
  static struct dense_37864486_para para;
  para.flatten = flatten;
  para.dense_weight_transposed = dense_weight_transposed;
  para.dense_bias = dense_bias;
  para.dense = dense;
  athread_spawn(dense_37864486, &para);
  athread_join();
}

/* prob: prob (single) */
void layer_prob(float *dense, float *prob) {
  static struct prob_a0859bec_para para;
  para.dense = dense;
  para.prob = prob;
  athread_spawn(prob_a0859bec, &para);
  athread_join();
}
