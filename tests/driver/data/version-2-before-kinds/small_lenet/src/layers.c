/* The layers' launches on the compute cores of network small_lenet, for sw26010 (fusion exact, planner searched) */
#include "athread.h"
#include "layers.h"
#include "layers_mix.h"

extern void SLAVE_FUN(kernels_from_pool1)(void *);

static struct kernels_from_pool1_para launch_pool1_para;

/* pool1: conv1, pool1 (convolution_pool) */
void layer_pool1(float *t_image, float *t_conv1_weight_blocks, float *t_conv1_bias, float *t_pool1) {
  launch_pool1_para.layer_pool1.t_image = t_image;
  launch_pool1_para.layer_pool1.t_conv1_weight_blocks = t_conv1_weight_blocks;
  launch_pool1_para.layer_pool1.t_conv1_bias = t_conv1_bias;
  launch_pool1_para.layer_pool1.t_pool1 = t_pool1;
}

/* pool2: conv2, pool2 (convolution_pool) */
void layer_pool2(float *t_pool1, float *t_conv2_weight, float *t_conv2_bias, float *t_pool2) {
  launch_pool1_para.layer_pool2.t_pool1 = t_pool1;
  launch_pool1_para.layer_pool2.t_conv2_weight = t_conv2_weight;
  launch_pool1_para.layer_pool2.t_conv2_bias = t_conv2_bias;
  launch_pool1_para.layer_pool2.t_pool2 = t_pool2;
}

/* ip1: ip1, relu1 (matmul) */
void layer_ip1(float *t_flatten, float *t_ip1_weight_transposed, float *t_ip1_bias, float *t_relu1) {
  launch_pool1_para.layer_ip1.t_flatten = t_flatten;
  launch_pool1_para.layer_ip1.t_ip1_weight_transposed = t_ip1_weight_transposed;
  launch_pool1_para.layer_ip1.t_ip1_bias = t_ip1_bias;
  launch_pool1_para.layer_ip1.t_relu1 = t_relu1;
}

/* ip2: ip2 (matmul) */
void layer_ip2(float *t_relu1, float *t_ip2_weight_transposed, float *t_ip2_bias, float *t_ip2) {
  launch_pool1_para.layer_ip2.t_relu1 = t_relu1;
  launch_pool1_para.layer_ip2.t_ip2_weight_transposed = t_ip2_weight_transposed;
  launch_pool1_para.layer_ip2.t_ip2_bias = t_ip2_bias;
  launch_pool1_para.layer_ip2.t_ip2 = t_ip2;
}

/* prob: prob (single) */
void layer_prob(float *t_ip2, float *t_prob) {
  launch_pool1_para.layer_prob.t_ip2 = t_ip2;
  launch_pool1_para.layer_prob.t_prob = t_prob;
}

/* 5 layers, from layer_pool1 to layer_prob */
void launch_pool1(void) {
  athread_spawn(kernels_from_pool1, &launch_pool1_para);
  athread_join();
}
