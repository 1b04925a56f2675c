/* stowage 0.1.0 | stowage compile matmul.onnx --target sw26010 --fusion exact --planner searched | model matmul.onnx xxh64:e14af34ed4b950cd | target sw26010 xxh64:a805c5c80f1d6276 */
/* The main program of network matmul, for sw26010 (fusion exact, planner searched) */
#define SW_MANAGEMENT_CORE
#include <stdint.h>

#include "athread.h"
#include "layers.h"
#include "sw_rt.h"

int main(void) {
  /* allocate */
  char *parameters = sw_alloc_aligned(128, 0);
  char *activations = sw_alloc_aligned(128, 4202496);

  /* parameters and input */
  sw_read_file("params.bin", parameters, 0);
  sw_read_file("input_0.bin", activations + 4194304, 4096);  /* A: f32[1,1024] */
  sw_read_file("input_1.bin", activations + 0, 4194304);  /* B: f32[1024,1024] */

  /* calculate */
  athread_init();
  layer_matmul((float *)(activations + 4194304), (float *)(activations + 0), (float *)(activations + 4198400));
  athread_halt();

  /* output */
  sw_write_file("output_0.bin", activations + 4198400, 4096);  /* C: f32[1,1024] */
  return 0;
}
