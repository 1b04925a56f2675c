// SPDX-License-Identifier: Apache-2.0
// What stands in for a vendor's library: the matrix product as CBLAS has it, row by row on the host. How its kernels
// move data on the machine nobody emulates.
#ifndef SWEMU_LIBRARY_H
#define SWEMU_LIBRARY_H

enum { CblasRowMajor = 101, CblasNoTrans = 111, CblasTrans = 112 };

/* C = alpha A B + beta C, where beta is 0 without reading C; matrices by rows. */
static inline void swemu_sgemm(int order, int transposed_a, int transposed_b, int m, int n, int k, float alpha,
                               const float* a, int row_a, const float* b, int row_b, float beta, float* c, int row_c) {
  (void)order; /* CblasRowMajor is the only one that is emitted */
  for (long i = 0; i < m; ++i) {
    float* const to = &c[i * row_c];
    for (long j = 0; j < n; ++j) to[j] = beta == 0.0f ? 0.0f : beta * to[j];
    for (long p = 0; p < k; ++p) { /* outside of j, so that rows of B and C are run through in order */
      const float left = alpha * (transposed_a == CblasTrans ? a[p * row_a + i] : a[i * row_a + p]);
      for (long j = 0; j < n; ++j) to[j] += left * (transposed_b == CblasTrans ? b[j * row_b + p] : b[p * row_b + j]);
    }
  }
}

#endif
