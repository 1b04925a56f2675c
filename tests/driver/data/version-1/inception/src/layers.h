/* The layers of network inception, for sw26010 (fusion exact, planner swtvm) */
#ifndef LAYERS_H
#define LAYERS_H

#include <stdint.h>

void layer_conv_1x1(float *data, float *conv_3x3_reduce_weight_stack, float *conv_3x3_reduce_bias_stack, float *relu_3x3_reduce_stack);
void layer_conv_3x3(float *relu_3x3_reduce, float *conv_3x3_weight, float *conv_3x3_bias, float *relu_3x3);
void layer_conv_5x5(float *relu_5x5_reduce, float *conv_5x5_weight, float *conv_5x5_bias, float *relu_5x5);
void layer_pool(float *concat, float *pool);
void layer_dense(float *flatten, float *dense_weight_transposed, float *dense_bias, float *dense);
void layer_prob(float *dense, float *prob);

#endif
