// SPDX-License-Identifier: Apache-2.0
#include "emulation_program.h"

#include <cstring>

#include <fmt/format.h>
#include <catch2/catch.hpp>

namespace stowage::test {
namespace {

constexpr const char* runtime_header = R"(#ifndef SW_RT_H
#define SW_RT_H
#include "swemu.h"
#define LDM_OF(T) ((T *)swemu_ldm(sizeof(T), offsetof(T, para)))
#define sw_alloc_aligned(bytes) swemu_alloc(bytes)
struct double_para { float *x, *y; };
#ifdef SWEMU_SIMD_H
#define BROADCAST(name, put, get)                                                 \
  static inline void name(int sends, const void *from, void *to, int bytes) {     \
    const doublev4 *sent = (const doublev4 *)from;                                \
    doublev4 *taken = (doublev4 *)to;                                             \
    for (int i = 0; i < (bytes + 31) / 32; i++) {                                 \
      if (!sends) { taken[i] = get(taken[i]); continue; }                         \
      put(sent[i], 8);                                                            \
      if (taken != sent) taken[i] = sent[i];                                      \
    }                                                                             \
  }
BROADCAST(down_column, simd_putc, simd_getc)
BROADCAST(along_row, simd_putr, simd_getr)
#define down_column(...) swemu_broadcast_down_column(SWEMU_SITE, down_column, __VA_ARGS__)
#define along_row(...) swemu_broadcast_along_row(SWEMU_SITE, along_row, __VA_ARGS__)
#endif
#endif
)";

std::string main_text(int launches) {
  return fmt::format(R"(#include <stdio.h>
#include "athread.h"
#include "sw_rt.h"
extern void SLAVE_FUN(double_it)(void *);
int main(void) {{
  sw_alloc_aligned(0);
  float *area = sw_alloc_aligned(2 * 64 * 32 * sizeof(float));
  struct double_para para = {{area, area + 64 * 32}};
  for (int i = 0; i < 64 * 32; i++) area[i] = (float)i;
  athread_init();
  for (int n = 0; n < {}; n++) {{
    athread_spawn(double_it, &para);
    athread_join();
  }}
  FILE *file = fopen("output_0.bin", "wb");
  fwrite(para.y, sizeof(float), 64 * 32, file);
  fclose(file);
  athread_halt();
  return 0;
}}
)",
                     launches);
}

std::string kernel_text(const KernelText& k) {
  return fmt::format(R"(#include "slave.h"
#include "dma.h"
#include "simd.h"
#include "sw_rt.h"
struct double_it_ldm {{
  {}
  struct double_para para; volatile unsigned r0, r1;
}};
void double_it(void *arg) {{
  struct double_it_ldm *ldm = LDM_OF(struct double_it_ldm);
  const int core = athread_get_id(-1); (void)core;
  ldm->r0 = 0;
  athread_get(PE_MODE, arg, &ldm->para, sizeof(struct double_para), (void *)&ldm->r0, 0, 0, 0);
  dma_wait(&ldm->r0, 1);
  float *x = ldm->para.x + core * 32; (void)x;
  float *y = ldm->para.y + core * 32; (void)y;
  /* get x */
  {}
  {}
  {}
  {}
  {}
  {}
  /* put y */
  {}
  {}
  {}
  {}
}}
)",
                     k.members, k.zero, k.get, k.after_get, k.wait, k.compute, k.before_put, k.zero_put, k.put,
                     k.after_put, k.wait_put);
}

}  // namespace

EmulationJob doubling_job(const KernelText& kernel, EmulationLevel level, int launches) {
  constexpr std::int64_t bytes = cores * elements * 4;
  EmulationJob job;
  job.sources = {{"sw_rt.h", runtime_header}, {"main.c", main_text(launches)}, {"double.s.c", kernel_text(kernel)}};
  job.results = {"output_0.bin"};
  for (int i = 0; i < launches; ++i) {
    job.launches.push_back({"double_it", {{"x", 1, 0, bytes, false}, {"y", 1, bytes, bytes, true}}, {}});
    job.dumps.push_back({i, 1, bytes, bytes});
  }
  job.options.level = level;
  job.options.workers = 2;
  return job;
}

std::vector<float> results_of(const EmulationJob& job) {
  Diagnostics diagnostics;
  const auto run = run_emulated_sources(job, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(run);
  CHECK(diagnostics.entries().empty());
  const auto& bytes = run->results.at(0);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

void check_run_refused(const EmulationJob& job, const std::string& code, const std::vector<std::string>& words) {
  Diagnostics diagnostics;
  CHECK_FALSE(run_emulated_sources(job, diagnostics));
  INFO(format_diagnostics(diagnostics));
  for (const Diagnostic& diagnostic : diagnostics.entries()) {
    if (diagnostic.code != code) continue;
    for (const std::string& word : words) {
      INFO("wanted in the message: " << word);
      CHECK(diagnostic.message.find(word) != std::string::npos);
    }
    return;
  }
  FAIL("no " << code);
}

}  // namespace stowage::test
