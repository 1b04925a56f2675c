/* 5 kernels in one spawn, one after the other, of network small_lenet, for sw26010 (fusion exact, planner searched) */
#include "slave.h"
#include "layers_mix.h"
#include "sw_rt.h"

/* A barrier of all cores: a kernel gets from main memory what those before it have put there. */
#ifdef SW_EMULATION /* counts and checks each kernel by itself */
#define NEXT_KERNEL(kernel, para) swemu_next_kernel(SWEMU_SITE, #kernel, (para), sizeof *(para))
#else
#define NEXT_KERNEL(kernel, para) athread_syn(ARRAY_SCOPE, 0xffff)
#endif

void pool1_f8ecaedb(void *);
void pool2_38e9de9b(void *);
void ip1_5e4cc560(void *);
void ip2_42e76fac(void *);
void prob_117f4e65(void *);

void kernels_from_pool1(void *arg) {
  /* in main memory, from where each kernel gets its own parameters */
  struct kernels_from_pool1_para *para = (struct kernels_from_pool1_para *)arg;
  pool1_f8ecaedb(&para->layer_pool1);
  NEXT_KERNEL(pool2_38e9de9b, &para->layer_pool2);
  pool2_38e9de9b(&para->layer_pool2);
  NEXT_KERNEL(ip1_5e4cc560, &para->layer_ip1);
  ip1_5e4cc560(&para->layer_ip1);
  NEXT_KERNEL(ip2_42e76fac, &para->layer_ip2);
  ip2_42e76fac(&para->layer_ip2);
  NEXT_KERNEL(prob_117f4e65, &para->layer_prob);
  prob_117f4e65(&para->layer_prob);
}
