// SPDX-License-Identifier: Apache-2.0
// Gets that fill the LDMs of other cores, and barriers of rows, in emulation: right, and with faults in them.
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

constexpr const char* array = "athread_syn(ARRAY_SCOPE, 0xffff);";
constexpr const char* row = "athread_syn(ROW_SCOPE, 0xff);";

/// Core 0 loads the first 32 elements for all.
KernelText of_mesh() {
  KernelText kernel;
  kernel.zero = std::string(array) + " ldm->r0 = 0;";
  kernel.get = "if (core == 0) athread_get(BCAST_MODE, ldm->para.x, ldm->a, 128, (void *)&ldm->r0, (char)0xff, 0, 0);";
  kernel.wait = std::string("if (core == 0) { dma_wait(&ldm->r0, 1); } ") + array;
  return kernel;
}

/// The first core of each row loads what it would load for itself for all of the row.
KernelText of_rows() {
  KernelText kernel;
  kernel.zero = std::string(row) + " ldm->r0 = 0;";
  kernel.get =
      "if (core % 8 == 0) athread_get(BCAST_MODE, x, ldm->a, 128, (void *)&ldm->r0, (char)(1 << core / 8), 0, 0);";
  kernel.wait = std::string("if (core % 8 == 0) { dma_wait(&ldm->r0, 1); } ") + row;
  return kernel;
}

/// Core 0 loads the first 32 elements for three rows, which wait for each other by columns and then by rows; each of
/// the other cores loads them for itself.
KernelText of_three_rows() {
  const std::string together = "if (core < 24) { athread_syn(COL_SCOPE, 0x7); " + std::string(row) + " }";
  KernelText kernel;
  kernel.zero = together + " ldm->r0 = 0;";
  kernel.get =
      "if (core == 0 || core >= 24) athread_get(core ? PE_MODE : BCAST_MODE, ldm->para.x, ldm->a, 128, "
      "(void *)&ldm->r0, core ? 0 : 0x7, 0, 0);";
  kernel.wait = "if (core == 0 || core >= 24) { dma_wait(&ldm->r0, 1); } " + together;
  return kernel;
}

/// The first core of each column loads what it would load for itself, and sends it to all of the column.
KernelText of_columns() {
  KernelText kernel;
  kernel.get = "if (core < 8) athread_get(PE_MODE, x, ldm->a, 128, (void *)&ldm->r0, 0, 0, 0);";
  kernel.wait = "if (core < 8) { dma_wait(&ldm->r0, 1); } down_column(core < 8, ldm->a, ldm->a, 128);";
  return kernel;
}

/// Of the core that meets others most often in a line, in each launch.
std::vector<TeamMeetings> meetings_in(const EmulationJob& job, int line) {
  Diagnostics diagnostics;
  const auto run = run_emulated_sources(job, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(run);
  std::vector<TeamMeetings> found(job.launches.size());
  for (const LineMeetings& at : run->meetings) {
    if (at.line == line) found[static_cast<std::size_t>(at.launch)] = at.meetings;
  }
  return found;
}

TEST_CASE("what core 0 loads for the mesh is in every LDM, and counts once") {
  for (const auto level : all_levels) {
    for (const int workers : {1, 3}) {
      for (const bool sanitize : {false, true}) {
        if (sanitize && level == EmulationLevel::count) continue;
        INFO("level " << static_cast<int>(level) << ", workers " << workers << ", sanitize " << sanitize);
        EmulationJob job = doubling_job(of_mesh(), level);
        job.options.workers = workers;
        job.options.sanitize = sanitize;
        const std::vector<float> y = results_of(job);
        REQUIRE(y.size() == 64 * 32);
        for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(y[i] == 2.0F * static_cast<float>(i % 32));
        Diagnostics diagnostics;
        const auto run = run_emulated_sources(job, diagnostics);
        REQUIRE(run);
        for (const LineCount& count : run->counts) {
          if (count.line != test::line_of_get) continue;
          CHECK(count.transfers == 1);
          CHECK(count.operations == 1);
          CHECK(count.bytes == 128);
        }
      }
    }
  }
}

TEST_CASE("each row has what its first core loads, and rows do not wait for each other") {
  for (const auto level : all_levels) {
    EmulationJob job = doubling_job(of_rows(), level, 3);
    job.options.seed = 3;
    const std::vector<float> y = results_of(job);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t first_of_row = i / 32 / 8 * 8;
      REQUIRE(y[i] == 2.0F * static_cast<float>(first_of_row * 32 + i % 32));
    }
  }
  // Rows that meet differently often.
  KernelText kernel = of_rows();
  kernel.compute += std::string(" for (int i = 0; i < core / 8; i++) { ") + row + " }";
  CHECK(results_of(doubling_job(kernel, EmulationLevel::strict)).size() == 64 * 32);
}

TEST_CASE("barriers and broadcasts are counted, of the core that has most, launch by launch") {
  for (const auto level : all_levels) {
    KernelText kernel = of_rows();
    CHECK(meetings_in(doubling_job(kernel, level, 3), test::line_of_wait) ==
          std::vector<TeamMeetings>(3, TeamMeetings{1, 0}));
    CHECK(meetings_in(doubling_job(kernel, level), test::line_of_compute) == std::vector<TeamMeetings>(1));
    kernel.compute += std::string(" for (int i = 0; i < core / 8; i++) { ") + row + " }";
    CHECK(meetings_in(doubling_job(kernel, level, 2), test::line_of_compute) ==
          std::vector<TeamMeetings>(2, TeamMeetings{7, 0}));
    // 128 bytes are four registers, and so are 100.
    CHECK(meetings_in(doubling_job(of_columns(), level), test::line_of_wait) ==
          std::vector<TeamMeetings>{TeamMeetings{1, 4}});
    KernelText less = of_columns();
    less.wait.replace(less.wait.find("128"), 3, "100");
    CHECK(meetings_in(doubling_job(less, level), test::line_of_wait) == std::vector<TeamMeetings>{TeamMeetings{1, 4}});
  }
}

TEST_CASE("fault: a broadcast to rows that there are not") {
  KernelText kernel = of_mesh();
  kernel.get = "if (core == 0) athread_get(BCAST_MODE, ldm->para.x, ldm->a, 128, (void *)&ldm->r0, 0, 0, 0);";
  check_run_refused(doubling_job(kernel, EmulationLevel::count), "emulation-broadcast-mask",
                    {"a broadcast to rows 0x0 of the mesh, which has 8"});
}

TEST_CASE("fault: a broadcast to a core that has not come, or has gone") {
  KernelText kernel = of_mesh();
  kernel.zero = "ldm->r0 = 0;";
  EmulationJob early = doubling_job(kernel, EmulationLevel::count);
  early.options.workers = 1;
  check_run_refused(early, "emulation-broadcast-absent",
                    {"to core 1, which has not come to its LDM yet", "a barrier is missing"});
  KernelText gone;
  gone.zero = "ldm->r0 = 0; if (core == 9) return;";
  gone.get = "if (core == 15) athread_get(BCAST_MODE, x, ldm->a, 128, (void *)&ldm->r0, 2, 0, 0);";
  gone.wait = "if (core == 15) dma_wait(&ldm->r0, 1);";
  EmulationJob late = doubling_job(gone, EmulationLevel::check);
  late.options.workers = 1;
  check_run_refused(late, "emulation-broadcast-absent", {"which has returned"});
}

TEST_CASE("fault: cores that do not wait for what is broadcast to them") {
  KernelText kernel = of_mesh();
  kernel.wait = "if (core == 0) { dma_wait(&ldm->r0, 1); }";
  EmulationJob job = doubling_job(kernel, EmulationLevel::check);
  job.options.workers = 1;  // the last one that comes goes on first, and is gone when core 0 loads
  check_run_refused(job, "emulation-broadcast-absent", {"which has returned"});
}

TEST_CASE("fault: a core moves something where a broadcast to it is in flight") {
  KernelText kernel = of_mesh();
  kernel.after_get = std::string(array) +
                     " if (core == 5) { ldm->r1 = 0; athread_get(PE_MODE, x, ldm->a, 64, (void *)&ldm->r1, 0, 0, 0); "
                     "dma_wait(&ldm->r1, 1); } " +
                     array;
  check_run_refused(doubling_job(kernel, EmulationLevel::check), "emulation-dma-overlap",
                    {"DMA of LDM bytes [0, 64) of core 5 while a broadcast to it is in flight there"});
  KernelText under_way = of_mesh();
  under_way.zero =
      "ldm->r0 = ldm->r1 = 0; if (core == 5) athread_get(PE_MODE, x, ldm->a, 64, (void *)&ldm->r1, 0, 0, 0); " +
      std::string(array);
  under_way.after_get = std::string(array) + " if (core == 5) dma_wait(&ldm->r1, 1);";
  check_run_refused(doubling_job(under_way, EmulationLevel::check), "emulation-dma-overlap",
                    {"a broadcast of LDM bytes [0, 128) while an operation of core 5 is in flight there"});
}

TEST_CASE("fault: a core of a row that never comes is named, with what it does instead") {
  KernelText returned = of_rows();
  returned.compute = "if (core == 12) { dma_wait(&ldm->r0, 0); return; } " + std::string(row);
  check_run_refused(
      doubling_job(returned, EmulationLevel::count), "emulation-deadlock",
      {"7 of 8 cores wait at a barrier of row 1 of the mesh that the other 1 never reach (core 12 has returned): ",
       "cores 8-11, 13-15 wait at double.s.c:22 (at a barrier)"});
  KernelText elsewhere = of_rows();
  elsewhere.compute = std::string("if (core == 12) { ") + array + " } else { " + row + " }";
  check_run_refused(doubling_job(elsewhere, EmulationLevel::count), "emulation-deadlock",
                    {"7 of 8 cores wait at a barrier of row 1 of the mesh that the other 1 never reach (core 12 waits "
                     "at double.s.c:22): ",
                     "core 12 waits at double.s.c:22 (at a barrier)"});
}

TEST_CASE("cores of some rows wait for each other by columns and then by rows") {
  for (const auto level : all_levels) {
    for (const int workers : {1, 3}) {
      INFO("level " << static_cast<int>(level) << ", workers " << workers);
      EmulationJob job = doubling_job(of_three_rows(), level);
      job.options.workers = workers;
      const std::vector<float> y = results_of(job);
      REQUIRE(y.size() == 64 * 32);
      for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(y[i] == 2.0F * static_cast<float>(i % 32));
    }
  }
}

TEST_CASE("fault: a core of a column that never comes, or that waits for other rows") {
  KernelText returned = of_three_rows();
  returned.compute +=
      " if (core == 9) { dma_wait(&ldm->r0, 0); return; } if (core < 24) { athread_syn(COL_SCOPE, 0x7); }";
  check_run_refused(
      doubling_job(returned, EmulationLevel::count), "emulation-deadlock",
      {"2 of 3 cores wait at a barrier of column 1 of the mesh that the other 1 never reach (core 9 has returned): ",
       "cores 1, 17 wait at double.s.c:22 (at a barrier)"});
  KernelText others = of_three_rows();
  others.compute += " if (core < 24) { athread_syn(COL_SCOPE, core < 8 ? 0x3 : 0x7); }";
  check_run_refused(doubling_job(others, EmulationLevel::count), "emulation-barrier", {"other cores of column "});
}

TEST_CASE("what the first core of each column has loaded goes down the column") {
  for (const auto level : all_levels) {
    for (const int workers : {1, 3}) {
      INFO("level " << static_cast<int>(level) << ", workers " << workers);
      EmulationJob job = doubling_job(of_columns(), level);
      job.options.workers = workers;
      const std::vector<float> y = results_of(job);
      REQUIRE(y.size() == 64 * 32);
      for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(y[i] == 2.0F * static_cast<float>(i % (8 * 32)));
    }
  }
}

TEST_CASE("fault: a core that does not take what goes down its column, or takes something else") {
  KernelText returned = of_columns();
  returned.get = "if (core == 17) return; " + returned.get;
  check_run_refused(doubling_job(returned, EmulationLevel::count), "emulation-deadlock",
                    {"7 of 8 cores wait at a broadcast of column 1 of the mesh that the other 1 never reach (core 17 "
                     "has returned): "});
  KernelText shorter = of_columns();
  shorter.wait =
      "if (core < 8) { dma_wait(&ldm->r0, 1); } "
      "down_column(core < 8, ldm->a, ldm->a, core == 17 ? 64 : 128);";
  check_run_refused(doubling_job(shorter, EmulationLevel::count), "emulation-broadcast",
                    {"takes 64 bytes at LDM byte 0, of which core 1 sends 128 bytes to byte 0"});
  KernelText barrier = of_columns();
  barrier.get = "if (core == 17) athread_syn(COL_SCOPE, 0xff); " + barrier.get;
  check_run_refused(doubling_job(barrier, EmulationLevel::count), "emulation-barrier",
                    {"while other cores of column 1"});
}

TEST_CASE("what a core of each row has loaded goes along the row") {
  KernelText kernel = of_columns();
  kernel.get = "if (core % 8 == 5) athread_get(PE_MODE, x, ldm->a, 128, (void *)&ldm->r0, 0, 0, 0);";
  kernel.wait =
      "if (core % 8 == 5) { dma_wait(&ldm->r0, 1); } "
      "along_row(core % 8 == 5, ldm->a, ldm->a, 128);";
  for (const auto level : all_levels) {
    const std::vector<float> y = results_of(doubling_job(kernel, level));
    REQUIRE(y.size() == 64 * 32);
    for (std::size_t i = 0; i < y.size(); ++i)
      REQUIRE(y[i] == 2.0F * static_cast<float>((i / 256 * 8 + 5) * 32 + i % 32));
  }
}

TEST_CASE("fault: a row of which no core sends, or two do, or one is at its barrier") {
  KernelText none = of_columns();
  none.wait = "dma_wait(&ldm->r0, core < 8); along_row(core == 64, ldm->a, ldm->a, 128);";
  check_run_refused(doubling_job(none, EmulationLevel::count), "emulation-broadcast",
                    {"takes 128 bytes, which none of the cores that take them sends"});
  KernelText two = of_columns();
  two.wait = "dma_wait(&ldm->r0, core < 8); along_row(core % 8 > 5, ldm->a, ldm->a, 128);";
  check_run_refused(doubling_job(two, EmulationLevel::count), "emulation-broadcast", {"sends what core ", "sends too"});
  KernelText barrier = of_columns();
  barrier.wait =
      "dma_wait(&ldm->r0, core < 8); "
      "if (core == 17) athread_syn(ROW_SCOPE, 0xff); "
      "along_row(core % 8 == 5, ldm->a, ldm->a, 128);";
  check_run_refused(doubling_job(barrier, EmulationLevel::count), "emulation-barrier", {"while other cores of row 2"});
}

TEST_CASE("fault: scopes and modes that are not emulated") {
  KernelText column = of_rows();
  column.compute += " athread_syn(COL_SCOPE, 0x1);";
  check_run_refused(
      doubling_job(column, EmulationLevel::count), "emulation-unsupported",
      {"only ARRAY_SCOPE with mask 0xffff, ROW_SCOPE with mask 0xff and COL_SCOPE with a mask of rows that has "
       "the core's own are emulated"});
  KernelText rank = of_mesh();
  rank.get = "athread_get(RANK_MODE, x, ldm->a, 128, (void *)&ldm->r0, 0, 0, 0);";
  check_run_refused(doubling_job(rank, EmulationLevel::count), "emulation-unsupported", {"BCAST_MODE are emulated"});
}

}  // namespace
}  // namespace stowage
