/* The layers' launches on the compute cores of network mirror, for sw26010 (fusion none, planner searched) */
#include "athread.h"
#include "layers.h"
#include "layers_mix.h"

extern void SLAVE_FUN(relu_64023310)(void *);
extern void SLAVE_FUN(softmax_9b49027d)(void *);

/* relu: relu (single) */
void layer_relu(float *t_x, float *t_positive) {
  static struct relu_64023310_para para;
  para.t_x = t_x;
  para.t_positive = t_positive;
  athread_spawn(relu_64023310, &para);
  athread_join();
}

/* softmax: softmax (single) */
void layer_softmax(float *t_wide, float *t_y) {
  static struct softmax_9b49027d_para para;
  para.t_wide = t_wide;
  para.t_y = t_y;
  athread_spawn(softmax_9b49027d, &para);
  athread_join();
}
