/* The layers of network mirror, for sw26010 (fusion none, planner searched) */
#ifndef LAYERS_H
#define LAYERS_H

#include <stdint.h>

void layer_relu(float *t_x, float *t_positive);
void layer_softmax(float *t_wide, float *t_y);
void layer_pad(float *t_positive, float *t_wide);

#endif
