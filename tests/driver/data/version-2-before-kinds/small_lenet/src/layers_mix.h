/* Parameters of the compute-core functions, seen by the functions and by the layers that launch them. */
#ifndef LAYERS_MIX_H
#define LAYERS_MIX_H

#include <stdint.h>

struct pool1_f8ecaedb_para {
  float *t_image;
  float *t_conv1_weight_blocks;
  float *t_conv1_bias;
  float *t_pool1;
};

struct pool2_38e9de9b_para {
  float *t_pool1;
  float *t_conv2_weight;
  float *t_conv2_bias;
  float *t_pool2;
};

struct ip1_5e4cc560_para {
  float *t_flatten;
  float *t_ip1_weight_transposed;
  float *t_ip1_bias;
  float *t_relu1;
};

struct ip2_42e76fac_para {
  float *t_relu1;
  float *t_ip2_weight_transposed;
  float *t_ip2_bias;
  float *t_ip2;
};

struct prob_117f4e65_para {
  float *t_ip2;
  float *t_prob;
};

struct kernels_from_pool1_para {
  struct pool1_f8ecaedb_para layer_pool1;
  struct pool2_38e9de9b_para layer_pool2;
  struct ip1_5e4cc560_para layer_ip1;
  struct ip2_42e76fac_para layer_ip2;
  struct prob_117f4e65_para layer_prob;
};

#endif
