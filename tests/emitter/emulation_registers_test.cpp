// SPDX-License-Identifier: Apache-2.0
// Registers that cores of a row or a column send each other, in emulation: right, and with faults in them.
#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "emitter/emulation/emulated_sources.h"
#include "emulation_program.h"

namespace stowage {
namespace {

using test::all_levels;
using test::check_run_refused;
using test::doubling_job;
using test::KernelText;
using test::results_of;

/// Each core sends the first `count` registers of what it loaded to the next one of its row, and then takes as many.
KernelText ring(int count) {
  KernelText kernel;
  kernel.compute = fmt::format(
      "doublev4 *box = (doublev4 *)ldm->a; for (int i = 0; i < {0}; i++) {{ simd_putr(box[i], (core + 1) % 8); }} "
      "for (int i = 0; i < {0}; i++) {{ box[i] = simd_getr(box[i]); }} "
      "for (int i = 0; i < 32; i++) {{ ldm->b[i] = ldm->a[i]; }}",
      count);
  return kernel;
}

/// The cores of each row send what they loaded to all others of it, one after the other and without a barrier; what a
/// core has in the end is what each of them sent, times its number from 1 on, added up.
KernelText all_in_turn() {
  KernelText kernel;
  kernel.members = "float a[32]; float b[32]; float c[32];";
  kernel.compute =
      "for (int i = 0; i < 32; i++) { ldm->b[i] = 0; } for (int s = 0; s < 8; s++) { "
      "along_row(core % 8 == s, ldm->a, ldm->c, 128); "
      "for (int i = 0; i < 32; i++) { ldm->b[i] += (s + 1) * ldm->c[i]; } }";
  return kernel;
}

TEST_CASE("a register goes to the core of that number in the row, or in the column") {
  for (const auto level : all_levels) {
    for (const int workers : {1, 3}) {
      INFO("level " << static_cast<int>(level) << ", workers " << workers);
      EmulationJob job = doubling_job(ring(1), level);
      job.options.workers = workers;
      const std::vector<float> y = results_of(job);
      REQUIRE(y.size() == 64 * 32);
      for (std::size_t i = 0; i < y.size(); ++i) {
        const std::size_t core = i / 32;
        const std::size_t from = i % 32 < 8 ? core / 8 * 8 + (core % 8 + 7) % 8 : core;
        REQUIRE(y[i] == static_cast<float>(from * 32 + i % 32));
      }
    }
  }
  KernelText down;
  down.compute =
      "floatv4 v; simd_load(v, ldm->a); if (core / 8 == 2) simd_putc(v, 6); if (core / 8 == 6) v = simd_getc(v); "
      "simd_store(v, ldm->b); for (int i = 4; i < 32; i++) { ldm->b[i] = ldm->a[i]; }";
  const std::vector<float> y = results_of(doubling_job(down, EmulationLevel::strict));
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t core = i / 32;
    const std::size_t from = core / 8 == 6 && i % 32 < 4 ? core - 32 : core;
    REQUIRE(y[i] == static_cast<float>(from * 32 + i % 32));
  }
}

TEST_CASE("senders of a row that follow each other without a barrier stay in order, at once and register by register") {
  for (const auto level : all_levels) {
    for (const int workers : {1, 2, 3}) {
      for (const unsigned seed : {1U, 2U, 3U, 4U}) {
        INFO("level " << static_cast<int>(level) << ", workers " << workers << ", seed " << seed);
        EmulationJob job = doubling_job(all_in_turn(), level);
        job.options.workers = workers;
        job.options.seed = seed;
        job.options.sanitize = level == EmulationLevel::strict && seed == 1;
        const std::vector<float> y = results_of(job);
        REQUIRE(y.size() == 64 * 32);
        for (std::size_t i = 0; i < y.size(); ++i) {
          float sum = 0;
          for (std::size_t s = 0; s < 8; ++s)
            sum += static_cast<float>(s + 1) * static_cast<float>((i / 256 * 8 + s) * 32 + i % 32);
          REQUIRE(y[i] == sum);
        }
      }
    }
  }
}

TEST_CASE("a buffer holds four registers, at level strict perhaps fewer") {
  CHECK(results_of(doubling_job(ring(4), EmulationLevel::count)).size() == 64 * 32);
  check_run_refused(doubling_job(ring(4), EmulationLevel::strict), "emulation-deadlock", {"waits to send along row "});
  check_run_refused(doubling_job(ring(5), EmulationLevel::count), "emulation-deadlock",
                    {"waits to send along row 0, where core 1 takes none of those it has: cores 0-63 wait at "
                     "double.s.c:22 (to send along the row)"});
}

TEST_CASE("fault: a register that nobody sends is told with what every core does instead") {
  KernelText kernel;
  kernel.compute =
      "if (core == 7) { for (int i = 0; i < 32; i++) { ldm->b[i] = 0; } } else if (core == 20 || core == 21) {\n"
      "athread_syn(ROW_SCOPE, 0xff); } else if (core % 2) { doublev4 *box = (doublev4 *)ldm->a; *box = "
      "simd_getr(*box); }";
  check_run_refused(
      doubling_job(kernel, EmulationLevel::check), "emulation-deadlock",
      {"waits for a register that nobody sends along row 0: ", "cores 0, 2, 4", "have returned",
       "cores 1, 3, 5, 9, 11, 13, 15, 17, 19, 23, 25,", ", 61, 63 wait at double.s.c:23 (to take along the row)",
       "cores 20-21 wait at double.s.c:23 (at a barrier)"});
}

TEST_CASE("fault: what is sent and never taken, taken as something else, or sent to nobody") {
  KernelText left;
  left.compute += " doublev4 v = {0}; if (core == 9) { simd_putc(v, 4); simd_putc(v, 4); }";
  for (const auto level : {EmulationLevel::count, EmulationLevel::check})
    check_run_refused(doubling_job(left, level), "emulation-registers",
                      {"core 33 never took what was sent here along its column: the kernel ended with 2 registers "
                       "waiting"});
  KernelText other;
  other.compute +=
      " floatv4 v; doublev4 w = {0}; simd_loade(v, ldm->a); if (core == 9) simd_putr(v, 4); "
      "if (core == 12) w = simd_getr(w);";
  check_run_refused(doubling_job(other, EmulationLevel::count), "emulation-registers",
                    {"takes 32 bytes, where core 9 sent 16 (double.s.c:22)"});
  KernelText nobody;
  nobody.compute += " doublev4 v = {0}; if (core == 9) simd_putr(v, 1);";
  check_run_refused(doubling_job(nobody, EmulationLevel::count), "emulation-registers",
                    {"sends to core 1 of its row, which has 8, itself number 1 of these (8: to all others)"});
  KernelText outside;
  outside.compute += " doublev4 v = {0}; if (core == 9) simd_putr(v, 9);";
  check_run_refused(doubling_job(outside, EmulationLevel::count), "emulation-registers",
                    {"sends to core 9 of its row"});
}

TEST_CASE("fault: a broadcast of which a core takes less, or that a core does not come to, register by register") {
  KernelText less;
  less.compute = "along_row(core % 8 == 5, ldm->a, ldm->b, core == 17 ? 64 : 128);";
  check_run_refused(doubling_job(less, EmulationLevel::strict), "emulation-broadcast",
                    {"takes a register of a box of 64 bytes, where core 21 sent one of a box of 128"});
  KernelText returned;
  returned.members = "float a[256]; float b[256];";
  returned.compute = "if (core == 17) return; along_row(core % 8 == 5, ldm->a, ldm->b, 1024);";
  check_run_refused(doubling_job(returned, EmulationLevel::strict), "emulation-deadlock",
                    {"double.s.c:22 (to take along the row)", "core 21 waits at double.s.c:22 (to send along the row)",
                     "have returned"});
}

TEST_CASE("fault: boxes of other sizes, also where all together are as many registers") {
  KernelText kernel;
  kernel.members = "float a[64]; float b[32]; float c[96];";
  kernel.compute =
      "along_row(core % 8 == 5, ldm->a, ldm->c, core == 17 ? 64 : 128); "
      "along_row(core % 8 == 5, ldm->a, ldm->c + 32, core == 17 ? 192 : 128);";
  check_run_refused(doubling_job(kernel, EmulationLevel::count), "emulation-broadcast",
                    {"takes 64 bytes", "of which core 21 sends 128 bytes"});
  check_run_refused(doubling_job(kernel, EmulationLevel::strict), "emulation-broadcast",
                    {"takes a register of a box of 64 bytes, where core 21 sent one of a box of 128 (double.s.c:22"});
}

TEST_CASE("fault: a box where a register has come first, at every level") {
  KernelText kernel;
  kernel.members = "float a[32]; float b[32]; float c[32];";
  kernel.compute =
      "doublev4 v = {0}; if (core % 8 == 5) { simd_putr(v, 8); } along_row(core % 8 == 5, ldm->a, ldm->c, 32); "
      "if (core % 8 != 5) { v = simd_getr(v); } ldm->b[0] = (float)v[0];";
  for (const auto level : {EmulationLevel::count, EmulationLevel::check})
    check_run_refused(doubling_job(kernel, level), "emulation-broadcast",
                      {"takes a box, where a register of core ", "has come first (double.s.c:22)"});
  check_run_refused(doubling_job(kernel, EmulationLevel::strict), "emulation-broadcast",
                    {"takes a register of a box of 32 bytes, where core ", "sent one of a box of 0"});
}

TEST_CASE("fault: a row of which some cores run nothing") {
  KernelText kernel;
  kernel.members = "float a[32]; float b[32]; float c[32];";
  kernel.compute = "along_row(core % 8 == 1, ldm->a, ldm->c, 128);";
  for (const auto level : all_levels) {
    EmulationJob job = doubling_job(kernel, level);
    job.cores = 60;
    check_run_refused(job, "emulation-broadcast", {"a box for all cores of a row, on 4 of which nothing runs"});
  }
}

}  // namespace
}  // namespace stowage
