/* Parameters of the compute-core functions, seen by the functions and by the layers that launch them. */
#ifndef LAYERS_MIX_H
#define LAYERS_MIX_H

#include <stdint.h>

struct matmul_77330342_para {
  float *t_A;
  float *t_B;
  float *t_C;
};

#endif
