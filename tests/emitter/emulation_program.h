// SPDX-License-Identifier: Apache-2.0
// A hand-written Athread program y = 2 x over 64 cores, whose kernel's parts a test can replace.
#pragma once

#include <string>
#include <vector>

#include "emitter/emulation/emulated_sources.h"

namespace stowage::test {

inline constexpr auto all_levels = {EmulationLevel::count, EmulationLevel::check, EmulationLevel::strict};
inline constexpr int cores = 64;
inline constexpr int elements = 32;  ///< of each core

/// The kernel in pieces, each in one piece of one line, so that tests can break one of them.
struct KernelText {
  std::string members = "float a[32]; float b[32];";  ///< of the LDM struct
  std::string zero = "ldm->r0 = 0;";
  std::string get = "athread_get(PE_MODE, x, ldm->a, 128, (void *)&ldm->r0, 0, 0, 0);";
  std::string after_get;
  std::string wait = "dma_wait(&ldm->r0, 1);";
  std::string compute = "for (int i = 0; i < 32; i++) { ldm->b[i] = 2 * ldm->a[i]; }";
  std::string before_put;
  std::string zero_put = "ldm->r1 = 0;";
  std::string put = "athread_put(PE_MODE, ldm->b, y, 128, (void *)&ldm->r1, 0, 0);";
  std::string after_put;
  std::string wait_put = "dma_wait(&ldm->r1, 1);";
};

/// Lines of double.s.c that the pieces stand in.
enum Line { line_of_get = 19, line_of_wait = 21, line_of_compute = 22, line_of_put = 26, line_of_wait_put = 28 };

/// A job that launches the kernel `launches` times.
EmulationJob doubling_job(const KernelText& kernel, EmulationLevel level, int launches = 1);

/// What a job that has to succeed stores as y.
std::vector<float> results_of(const EmulationJob& job);

/// A job that has to be refused: one diagnostic of that code has all these words.
void check_run_refused(const EmulationJob& job, const std::string& code, const std::vector<std::string>& words);

}  // namespace stowage::test
