// SPDX-License-Identifier: Apache-2.0
// The signature that CBLAS gives its matrix product of float32.
#ifndef CBLAS_H
#define CBLAS_H

enum CBLAS_ORDER { CblasRowMajor = 101, CblasColMajor = 102 };
enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112, CblasConjTrans = 113 };

void cblas_sgemm(const enum CBLAS_ORDER order, const enum CBLAS_TRANSPOSE trans_a, const enum CBLAS_TRANSPOSE trans_b,
                 const int m, const int n, const int k, const float alpha, const float *a, const int lda,
                 const float *b, const int ldb, const float beta, float *c, const int ldc);

#endif
