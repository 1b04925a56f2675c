/* The layers' launches on the compute cores of network matmul, for sw26010 (fusion none, planner swtvm) */
#include "athread.h"
#include "layers.h"
#include "layers_mix.h"

extern void SLAVE_FUN(matmul_77330342)(void *);

/* matmul: matmul (single) */
void layer_matmul(float *t_A, float *t_B, float *t_C) {
  static struct matmul_77330342_para para;
  para.t_A = t_A;
  para.t_B = t_B;
  para.t_C = t_C;
  athread_spawn(matmul_77330342, &para);
  athread_join();
}
