/* stowage 0.1.0 | stowage compile small_lenet.onnx --target sw26010 --fusion exact --planner searched | model small_lenet.onnx xxh64:99768ffcbc5e43ce | target sw26010 xxh64:a805c5c80f1d6276 */
/* The main program of network small_lenet, for sw26010 (fusion exact, planner searched) */
#define SW_MANAGEMENT_CORE
#include <stdint.h>

#include "athread.h"
#include "layers.h"
#include "sw_rt.h"

int main(void) {
  /* allocate */
  char *parameters = sw_alloc_aligned(128, 6400);
  char *activations = sw_alloc_aligned(128, 2176);

  /* parameters and input */
  sw_read_file("params.bin", parameters, 6400);
  sw_read_file("input_0.bin", activations + 1152, 1024);  /* image: f32[1,1,16,16] */

  /* calculate */
  athread_init();
  layer_pool1(
      (float *)(activations + 1152),
      (float *)(parameters + 0),
      (float *)(parameters + 896),
      (float *)(activations + 0));
  layer_pool2(
      (float *)(activations + 0),
      (float *)(parameters + 1024),
      (float *)(parameters + 3328),
      (float *)(activations + 1152));
  layer_ip1(
      (float *)(activations + 1152),
      (float *)(parameters + 3456),
      (float *)(parameters + 5504),
      (float *)(activations + 0));
  layer_ip2(
      (float *)(activations + 0),
      (float *)(parameters + 5632),
      (float *)(parameters + 6272),
      (float *)(activations + 128));
  layer_prob((float *)(activations + 128), (float *)(activations + 0));
  athread_halt();

  /* output */
  sw_write_file("output_0.bin", activations + 0, 40);  /* prob: f32[1,10] */
  return 0;
}
