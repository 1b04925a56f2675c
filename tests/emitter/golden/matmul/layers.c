/* The layers' launches on the compute cores of network matmul, for sw26010 (fusion none, planner swtvm) */
#include "athread.h"
#include "layers.h"
#include "layers_mix.h"

extern void SLAVE_FUN(matmul_2e107343)(void *);

/* matmul: matmul (single) */
void layer_matmul(float *A, float *B, float *C) {
  static struct matmul_2e107343_para para;
  para.A = A;
  para.B = B;
  para.C = C;
  athread_spawn(matmul_2e107343, &para);
  athread_join();
}
