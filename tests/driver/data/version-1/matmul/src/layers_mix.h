/* Parameters of the compute-core functions, seen by the functions and by the layers that launch them. */
#ifndef LAYERS_MIX_H
#define LAYERS_MIX_H

#include <stdint.h>

struct matmul_1addd238_para {
  float *A;
  float *B;
  float *C;
};

#endif
