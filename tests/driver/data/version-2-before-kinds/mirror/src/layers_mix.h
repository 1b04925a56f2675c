/* Parameters of the compute-core functions, seen by the functions and by the layers that launch them. */
#ifndef LAYERS_MIX_H
#define LAYERS_MIX_H

#include <stdint.h>

struct relu_64023310_para {
  float *t_x;
  float *t_positive;
};

struct softmax_9b49027d_para {
  float *t_wide;
  float *t_y;
};

#endif
