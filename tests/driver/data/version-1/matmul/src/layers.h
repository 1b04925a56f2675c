/* The layers of network matmul, for sw26010 (fusion exact, planner swtvm) */
#ifndef LAYERS_H
#define LAYERS_H

#include <stdint.h>

void layer_matmul(float *A, float *B, float *C);

#endif
