/* The layers of network matmul, for sw26010 (fusion exact, planner searched) */
#ifndef LAYERS_H
#define LAYERS_H

#include <stdint.h>

void layer_matmul(float *t_A, float *t_B, float *t_C);

#endif
