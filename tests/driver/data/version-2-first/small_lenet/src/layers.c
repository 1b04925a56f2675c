/* The layers' launches on the compute cores of network small_lenet, for sw26010 (fusion exact, planner searched) */
#include "athread.h"
#include "layers.h"
#include "layers_mix.h"

extern void SLAVE_FUN(pool1_ed678169)(void *);
extern void SLAVE_FUN(pool2_b0eaf489)(void *);
extern void SLAVE_FUN(ip1_915ef3d7)(void *);
extern void SLAVE_FUN(ip2_a4903b8b)(void *);
extern void SLAVE_FUN(prob_7db117d1)(void *);

/* pool1: conv1, pool1 (convolution_pool) */
void layer_pool1(float *t_image, float *t_conv1_weight, float *t_conv1_bias, float *t_pool1) {
  static struct pool1_ed678169_para para;
  para.t_image = t_image;
  para.t_conv1_weight = t_conv1_weight;
  para.t_conv1_bias = t_conv1_bias;
  para.t_pool1 = t_pool1;
  athread_spawn(pool1_ed678169, &para);
  athread_join();
}

/* pool2: conv2, pool2 (convolution_pool) */
void layer_pool2(float *t_pool1, float *t_conv2_weight, float *t_conv2_bias, float *t_pool2) {
  static struct pool2_b0eaf489_para para;
  para.t_pool1 = t_pool1;
  para.t_conv2_weight = t_conv2_weight;
  para.t_conv2_bias = t_conv2_bias;
  para.t_pool2 = t_pool2;
  athread_spawn(pool2_b0eaf489, &para);
  athread_join();
}

/* ip1: ip1, relu1 (matmul) */
void layer_ip1(float *t_flatten, float *t_ip1_weight_transposed, float *t_ip1_bias, float *t_relu1) {
  static struct ip1_915ef3d7_para para;
  para.t_flatten = t_flatten;
  para.t_ip1_weight_transposed = t_ip1_weight_transposed;
  para.t_ip1_bias = t_ip1_bias;
  para.t_relu1 = t_relu1;
  athread_spawn(ip1_915ef3d7, &para);
  athread_join();
}

/* ip2: ip2 (matmul) */
void layer_ip2(float *t_relu1, float *t_ip2_weight_transposed, float *t_ip2_bias, float *t_ip2) {
  static struct ip2_a4903b8b_para para;
  para.t_relu1 = t_relu1;
  para.t_ip2_weight_transposed = t_ip2_weight_transposed;
  para.t_ip2_bias = t_ip2_bias;
  para.t_ip2 = t_ip2;
  athread_spawn(ip2_a4903b8b, &para);
  athread_join();
}

/* prob: prob (single) */
void layer_prob(float *t_ip2, float *t_prob) {
  static struct prob_7db117d1_para para;
  para.t_ip2 = t_ip2;
  para.t_prob = t_prob;
  athread_spawn(prob_7db117d1, &para);
  athread_join();
}
