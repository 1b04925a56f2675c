/* stowage 0.1.0 | stowage compile mirror.onnx --target sw26010 --fusion none --planner searched --set target.ldm.bytes=8192 | model mirror.onnx xxh64:0b5b5676aa6de895 | target sw26010 xxh64:bbd7c846a9ac3334 */
/* The main program of network mirror, for sw26010 (fusion none, planner searched) */
#define SW_MANAGEMENT_CORE
#include <stdint.h>

#include "athread.h"
#include "layers.h"
#include "sw_rt.h"

int main(void) {
  /* allocate */
  char *parameters = sw_alloc_aligned(128, 0);
  char *activations = sw_alloc_aligned(128, 69632);

  /* parameters and input */
  sw_read_file("params.bin", parameters, 0);
  sw_read_file("input_0.bin", activations + 0, 18000);  /* x: f32[3,1500] */

  /* calculate */
  athread_init();
  layer_relu((float *)(activations + 0), (float *)(activations + 34816));
  layer_pad((float *)(activations + 34816), (float *)(activations + 0));
  layer_softmax((float *)(activations + 0), (float *)(activations + 34816));
  athread_halt();

  /* output */
  sw_write_file("output_0.bin", activations + 34816, 34800);  /* y: f32[3,2900] */
  return 0;
}
