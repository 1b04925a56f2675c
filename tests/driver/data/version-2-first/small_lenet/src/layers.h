/* The layers of network small_lenet, for sw26010 (fusion exact, planner searched) */
#ifndef LAYERS_H
#define LAYERS_H

#include <stdint.h>

void layer_pool1(float *t_image, float *t_conv1_weight, float *t_conv1_bias, float *t_pool1);
void layer_pool2(float *t_pool1, float *t_conv2_weight, float *t_conv2_bias, float *t_pool2);
void layer_ip1(float *t_flatten, float *t_ip1_weight_transposed, float *t_ip1_bias, float *t_relu1);
void layer_ip2(float *t_relu1, float *t_ip2_weight_transposed, float *t_ip2_bias, float *t_ip2);
void layer_prob(float *t_ip2, float *t_prob);

#endif
