/* Parameters of the compute-core functions, seen by the functions and by the layers that launch them. */
#ifndef LAYERS_MIX_H
#define LAYERS_MIX_H

#include <stdint.h>

struct conv_1x1_638cd705_para {
  float *data;
  float *conv_3x3_reduce_weight_stack;
  float *conv_3x3_reduce_bias_stack;
  float *relu_3x3_reduce_stack;
};

struct conv_3x3_8f7d6bea_para {
  float *relu_3x3_reduce;
  float *conv_3x3_weight;
  float *conv_3x3_bias;
  float *relu_3x3;
};

struct conv_5x5_3cf51e64_para {
  float *relu_5x5_reduce;
  float *conv_5x5_weight;
  float *conv_5x5_bias;
  float *relu_5x5;
};

struct pool_1e9b3405_para {
  float *concat;
  float *pool;
};

struct dense_37864486_para {
  float *flatten;
  float *dense_weight_transposed;
  float *dense_bias;
  float *dense;
};

struct prob_a0859bec_para {
  float *dense;
  float *prob;
};

#endif
