/* Parameters of the compute-core functions, seen by the functions and by the layers that launch them. */
#ifndef LAYERS_MIX_H
#define LAYERS_MIX_H

#include <stdint.h>

struct pool1_ed678169_para {
  float *t_image;
  float *t_conv1_weight;
  float *t_conv1_bias;
  float *t_pool1;
};

struct pool2_b0eaf489_para {
  float *t_pool1;
  float *t_conv2_weight;
  float *t_conv2_bias;
  float *t_pool2;
};

struct ip1_915ef3d7_para {
  float *t_flatten;
  float *t_ip1_weight_transposed;
  float *t_ip1_bias;
  float *t_relu1;
};

struct ip2_a4903b8b_para {
  float *t_relu1;
  float *t_ip2_weight_transposed;
  float *t_ip2_bias;
  float *t_ip2;
};

struct prob_7db117d1_para {
  float *t_ip2;
  float *t_prob;
};

#endif
