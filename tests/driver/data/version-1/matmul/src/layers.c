/* The layers' launches on the compute cores of network matmul, for sw26010 (fusion exact, planner swtvm) */
#include "athread.h"
#include "layers.h"
#include "layers_mix.h"

extern void SLAVE_FUN(matmul_1addd238)(void *);

/* matmul: matmul (matmul) */
void layer_matmul(float *A, float *B, float *C) {
  static struct matmul_1addd238_para para;
  para.A = A;
  para.B = B;
  para.C = C;
  athread_spawn(matmul_1addd238, &para);
  athread_join();
}
