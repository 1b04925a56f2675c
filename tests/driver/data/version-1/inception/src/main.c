/* stowage 0.1.0 | stowage compile inception.onnx --target sw26010 --fusion exact --planner swtvm | model inception.onnx xxh64:e7041a6f024200b9 | target sw26010 xxh64:a805c5c80f1d6276 */
/* The main program of network inception, for sw26010 (fusion exact, planner swtvm) */
#define SW_MANAGEMENT_CORE
#include <stdint.h>

#include "athread.h"
#include "layers.h"
#include "sw_rt.h"

int main(void) {
  /* allocate */
  char *parameters = sw_alloc_aligned(128, 3328);
  char *activations = sw_alloc_aligned(128, 8192);

  /* parameters and input */
  sw_read_file("params.bin", parameters, 3328);
  sw_read_file("input_0.bin", activations + 6144, 2048);  /* data: f32[1,8,8,8] */

  /* calculate */
  athread_init();
  layer_conv_1x1(
      (float *)(activations + 6144),
      (float *)(parameters + 2816),
      (float *)(parameters + 3200),
      (float *)(activations + 0));
  layer_conv_3x3(
      (float *)(activations + 0),
      (float *)(parameters + 0),
      (float *)(parameters + 1152),
      (float *)(activations + 3072));
  layer_conv_5x5(
      (float *)(activations + 1024),
      (float *)(parameters + 1280),
      (float *)(parameters + 1920),
      (float *)(activations + 5120));
  layer_pool((float *)(activations + 2048), (float *)(activations + 6144));
  layer_dense(
      (float *)(activations + 6144),
      (float *)(parameters + 2048),
      (float *)(parameters + 2688),
      (float *)(activations + 0));
  layer_prob((float *)(activations + 0), (float *)(activations + 128));
  athread_halt();

  /* output */
  sw_write_file("output_0.bin", activations + 128, 40);  /* prob: f32[1,10] */
  return 0;
}
