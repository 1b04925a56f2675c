// SPDX-License-Identifier: Apache-2.0
// Each test breaks one thing in a good program and sees the message that names it.
#include <catch2/catch.hpp>
#include <string>

#include "emulation_program.h"

namespace stowage {
namespace {

using test::doubling_job;
using test::KernelText;

struct Expected {
  std::string code;
  int line = 0;
  std::vector<std::string> words;  ///< all of them are in the message
};

const Diagnostic* find(const Diagnostics& diagnostics, const Expected& expected) {
  for (const Diagnostic& d : diagnostics.entries())
    if (d.code == expected.code && d.location.line == expected.line) return &d;
  return nullptr;
}

void check_refused(const EmulationJob& job, const Expected& expected) {
  Diagnostics diagnostics;
  CHECK_FALSE(run_emulated_sources(job, diagnostics));
  INFO(format_diagnostics(diagnostics));
  const Diagnostic* found = find(diagnostics, expected);
  REQUIRE(found != nullptr);
  CHECK(found->severity == Severity::error);
  CHECK(found->location.file == "double.s.c");
  for (const std::string& word : expected.words) {
    INFO("wanted in the message: " << word);
    CHECK(found->message.find(word) != std::string::npos);
  }
}

TEST_CASE("fault: an LDM struct larger than the LDM") {
  KernelText kernel;
  kernel.members = "float a[32]; float b[32]; float big[16384];";
  EmulationJob job = doubling_job(kernel, EmulationLevel::count);
  Diagnostics diagnostics;
  CHECK_FALSE(run_emulated_sources(job, diagnostics));
  REQUIRE(diagnostics.entries().size() == 1);
  CHECK(diagnostics.entries().front().code == "emulation-ldm-overflow");
  CHECK(diagnostics.entries().front().message ==
        "kernel double_it keeps 65816 bytes in the LDM, which holds 59392 for it");
}

TEST_CASE("fault: a write behind the last byte of the LDM struct") {
  KernelText kernel;
  kernel.compute += " ((volatile int *)&ldm->r1)[1] = 7;";
  Diagnostics diagnostics;
  CHECK_FALSE(run_emulated_sources(doubling_job(kernel, EmulationLevel::count), diagnostics));
  INFO(format_diagnostics(diagnostics));
  REQUIRE(diagnostics.entries().size() == 1);
  CHECK(diagnostics.entries().front().code == "emulation-ldm-overrun");
  CHECK(diagnostics.entries().front().message ==
        "kernel double_it wrote at byte 280 of the LDM, behind the 280 that it declares");
}

TEST_CASE("fault: an access one element past a buffer, found by the sanitizer") {
  KernelText kernel;
  kernel.members = "float a[32]; float pad[16]; float b[32];";
  kernel.compute = "for (int i = 0; i <= 32; i++) { const float *a = ldm->a; ldm->b[i & 31] = 2 * a[i]; }";
  EmulationJob job = doubling_job(kernel, EmulationLevel::check);
  job.launches.front().gaps = {{128, 64}};
  job.options.sanitize = true;
  for (const std::string compiler : {"gcc", "clang"}) {
    job.options.compiler = compiler;
    check_refused(job, {"emulation-forbidden-access",
                        test::line_of_compute,
                        {"read of 4 bytes", "LDM byte 128", "belongs to no buffer", "0 bytes behind the end"}});
  }
}

TEST_CASE("fault: an index past an array's end, found by the sanitizer") {
  KernelText kernel;
  kernel.compute = "for (int i = 0; i <= 32; i++) ldm->b[i & 31] = 2 * ldm->a[i];";
  EmulationJob job = doubling_job(kernel, EmulationLevel::check);
  job.options.sanitize = true;
  check_refused(job, {"emulation-undefined-behaviour", test::line_of_compute, {"index 32 out of bounds"}});
}

TEST_CASE("fault: DMA outside a tensor") {
  for (const auto level : {EmulationLevel::count, EmulationLevel::check, EmulationLevel::strict}) {
    KernelText kernel;
    kernel.get = "athread_get(PE_MODE, x + 1, ldm->a, 128, (void *)&ldm->r0, 0, 0, 0);";
    EmulationJob job = doubling_job(kernel, level);
    // Cores 0 to 62 stay inside x; the last one runs out of it, into y, which may be read too: not one tensor.
    check_refused(job, {"emulation-dma-out-of-bounds",
                        test::line_of_get,
                        {"athread_get from bytes [8068, 8196) of 'x', which has 8192"}});
    kernel = {};
    kernel.put = "athread_put(PE_MODE, ldm->b, core == 63 ? y + 4096 : y, 128, (void *)&ldm->r1, 0, 0);";
    check_refused(doubling_job(kernel, level), {"emulation-dma-out-of-bounds", test::line_of_put, {"athread_put to"}});
  }
}

TEST_CASE("fault: the message names the core and the statement") {
  KernelText kernel;
  kernel.put = "athread_put(PE_MODE, ldm->b, core >= 5 ? x : y, 128, (void *)&ldm->r1, 0, 0);";
  Diagnostics diagnostics;
  CHECK_FALSE(run_emulated_sources(doubling_job(kernel, EmulationLevel::check), diagnostics));
  const Diagnostic* found = find(diagnostics, {"emulation-read-only", test::line_of_put, {}});
  REQUIRE(found != nullptr);
  CHECK(found->location.object == "core 5");
  CHECK(found->message ==
        "athread_put to bytes [640, 768) of 'x', which has 8192, which kernel double_it may only read");
  CHECK(found->source_line.find("core >= 5 ? x : y") != std::string::npos);
  CHECK(found->notes == std::vector<std::string>{"in launch 0: double_it", "statement: /* put y */"});
}

TEST_CASE("fault: misaligned and misshapen operations") {
  KernelText kernel;
  kernel.get = "athread_get(PE_MODE, x, ldm->a, 126, (void *)&ldm->r0, 0, 0, 0);";
  check_refused(doubling_job(kernel, EmulationLevel::count),
                {"emulation-dma-misaligned", test::line_of_get, {"athread_get of 126 bytes", "multiples of 4"}});
  kernel.get = "athread_get(PE_MODE, x, ldm->a, 120, (void *)&ldm->r0, 0, 4, 16);";
  check_refused(doubling_job(kernel, EmulationLevel::count),
                {"emulation-dma-shape", test::line_of_get, {"120 bytes", "no multiple of its block of 16"}});
  kernel.get = "athread_get(PE_MODE, x, ldm->a, 0, (void *)&ldm->r0, 0, 0, 0);";
  check_refused(doubling_job(kernel, EmulationLevel::count), {"emulation-dma-shape", test::line_of_get, {"0 bytes"}});
  kernel.get = "athread_get(PE_MODE, x, &ldm->r1 + 1, 128, (void *)&ldm->r0, 0, 0, 0);";
  check_refused(doubling_job(kernel, EmulationLevel::count),
                {"emulation-dma-ldm-bounds", test::line_of_get, {"LDM bytes [280, 408)", "declares [0, 280)"}});
}

TEST_CASE("fault: a reply word outside the LDM") {
  KernelText kernel;
  kernel.zero = "int reply = 0;";
  kernel.get = "athread_get(PE_MODE, x, ldm->a, 128, (void *)&reply, 0, 0, 0);";
  kernel.wait = "dma_wait(&reply, 1);";
  check_refused(doubling_job(kernel, EmulationLevel::count), {"emulation-reply-place", test::line_of_get, {"reply"}});
}

TEST_CASE("fault: a missing wait") {
  for (const auto level : {EmulationLevel::count, EmulationLevel::check, EmulationLevel::strict}) {
    KernelText kernel;
    kernel.wait = "";
    check_refused(doubling_job(kernel, level),
                  {"emulation-never-awaited", test::line_of_get, {"athread_get of LDM bytes [0, 128)"}});
  }
}

TEST_CASE("fault: a wait with the wrong count") {
  for (const auto level : {EmulationLevel::count, EmulationLevel::check, EmulationLevel::strict}) {
    KernelText kernel;
    kernel.wait = "dma_wait(&ldm->r0, 2);";
    check_refused(doubling_job(kernel, level),
                  {"emulation-wait-never-ends", test::line_of_wait, {"2 completions", "only 1"}});
    kernel.get += " athread_get(PE_MODE, x, ldm->b, 128, (void *)&ldm->r0, 0, 0, 0);";
    kernel.wait = "dma_wait(&ldm->r0, 1);";
    check_refused(doubling_job(kernel, level),
                  {"emulation-wait-count", test::line_of_wait, {"1 completions", "counts 2"}});
  }
}

TEST_CASE("fault: a reply word that was not zeroed") {
  KernelText kernel;
  kernel.zero = "";
  check_refused(doubling_job(kernel, EmulationLevel::count),
                {"emulation-wait-count", test::line_of_wait, {"counts 2"}});
}

TEST_CASE("fault: a read before the wait, with its line by the sanitizer, as NaN without it") {
  KernelText kernel;
  kernel.compute = "dma_wait(&ldm->r0, 1);";
  kernel.wait = "for (int i = 0; i < 32; i++) ldm->b[i] = 2 * ldm->a[i];";  // where the wait was
  EmulationJob job = doubling_job(kernel, EmulationLevel::check);
  for (const std::string compiler : {"gcc", "clang"}) {
    job.options.compiler = compiler;
    job.options.sanitize = true;
    check_refused(job, {"emulation-forbidden-access",
                        test::line_of_wait,
                        {"LDM byte 0", "target of the athread_get issued at double.s.c:19"}});
    job.options.sanitize = false;
    Diagnostics diagnostics;
    const auto result = run_emulated_sources(job, diagnostics);
    REQUIRE(result);
    CHECK(result->results.at(0).at(3) == std::byte{0xff});  // NaN
  }
}

TEST_CASE("fault: strict finds what check finds, whenever the data happens to move") {
  KernelText early;
  early.compute = "dma_wait(&ldm->r0, 1);";
  early.wait = "for (int i = 0; i < 32; i++) { ldm->b[i] = 2 * ldm->a[i]; }";
  KernelText overlapping;
  overlapping.after_get = "ldm->r1 = 0; athread_get(PE_MODE, x, ldm->a + 16, 64, (void *)&ldm->r1, 0, 0, 0);";
  overlapping.compute += " dma_wait(&ldm->r1, 1);";
  KernelText overwritten;
  overwritten.after_put = "ldm->b[3] = 0;";
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    EmulationJob job = doubling_job(early, EmulationLevel::strict);
    job.options.seed = seed;
    job.options.sanitize = true;
    check_refused(job, {"emulation-forbidden-access", test::line_of_wait, {"target of the athread_get"}});
    job = doubling_job(overlapping, EmulationLevel::strict);
    job.options.seed = seed;
    check_refused(job, {"emulation-dma-overlap", test::line_of_get + 1, {"LDM bytes [64, 128)"}});
    job = doubling_job(overwritten, EmulationLevel::strict);
    job.options.seed = seed;
    check_refused(job, {"emulation-put-source-changed", test::line_of_put, {"overwritten"}});
  }
}

TEST_CASE("fault: the source of a put overwritten before its wait") {
  KernelText kernel;
  kernel.after_put = "ldm->b[3] = 0;";
  for (const auto level : {EmulationLevel::check, EmulationLevel::strict}) {
    check_refused(doubling_job(kernel, level),
                  {"emulation-put-source-changed", test::line_of_put, {"LDM bytes [128, 256)", "overwritten"}});
  }
}

TEST_CASE("fault: overlapping DMA in flight") {
  KernelText kernel;
  kernel.after_get = "ldm->r1 = 0; athread_get(PE_MODE, x, ldm->a + 16, 64, (void *)&ldm->r1, 0, 0, 0);";
  kernel.compute += " dma_wait(&ldm->r1, 1);";
  check_refused(
      doubling_job(kernel, EmulationLevel::check),
      {"emulation-dma-overlap", test::line_of_get + 1, {"LDM bytes [64, 128)", "[0, 128) issued at double.s.c:19"}});

  kernel = {};
  kernel.after_put =
      "ldm->r0 = 0; athread_get(PE_MODE, y, ldm->a, 64, (void *)&ldm->r0, 0, 0, 0); dma_wait(&ldm->r0, 1);";
  check_refused(doubling_job(kernel, EmulationLevel::check),
                {"emulation-dma-overlap", test::line_of_put + 1, {"of 'y'", "issued at double.s.c:26 is in flight"}});

  kernel.after_put =
      "ldm->r0 = 0; athread_get(PE_MODE, x, ldm->b, 64, (void *)&ldm->r0, 0, 0, 0); dma_wait(&ldm->r0, 1);";
  check_refused(doubling_job(kernel, EmulationLevel::check),
                {"emulation-dma-overlap", test::line_of_put + 1, {"athread_put of [128, 256)"}});
}

TEST_CASE("fault: two cores write one byte") {
  for (const auto level : {EmulationLevel::check, EmulationLevel::strict}) {
    KernelText kernel;
    kernel.put = "athread_put(PE_MODE, ldm->b, core == 8 ? y - 4 : y, 128, (void *)&ldm->r1, 0, 0);";
    check_refused(doubling_job(kernel, level),
                  {"emulation-write-conflict",
                   test::line_of_put,
                   {"cores 7 and 8 both write bytes [1008, 1024) of 'y'", "double.s.c:26"}});
  }
}

TEST_CASE("fault: reading what another core writes without a barrier between") {
  KernelText kernel;
  kernel.get =
      "athread_get(PE_MODE, ldm->para.y + (core == 3 ? 20 * 32 : core * 32), ldm->a, 128, (void *)&ldm->r0, 0, 0, 0);";
  check_refused(doubling_job(kernel, EmulationLevel::strict),
                {"emulation-read-conflict",
                 test::line_of_get,
                 {"core 3 reads bytes [2560, 2688) of 'y'", "core 20 writes at double.s.c:26"}});
}

TEST_CASE("fault: a barrier that not all cores reach") {
  KernelText kernel;
  kernel.compute += " if (core < 60) { athread_syn(ARRAY_SCOPE, 0xffff); }";
  check_refused(doubling_job(kernel, EmulationLevel::count),
                {"emulation-deadlock", test::line_of_compute, {"60 of 64 cores wait", "other 4 never reach"}});
}

TEST_CASE("fault: a wild pointer is reported with its core, not as a crash of ours") {
  KernelText kernel;
  kernel.compute += " if (core == 9) { ((volatile char *)ldm)[62000] = 1; }";
  Diagnostics diagnostics;
  CHECK_FALSE(run_emulated_sources(doubling_job(kernel, EmulationLevel::count), diagnostics));
  INFO(format_diagnostics(diagnostics));
  REQUIRE(diagnostics.entries().size() == 1);
  CHECK(diagnostics.entries().front().code == "emulation-crash");
  CHECK(diagnostics.entries().front().location.object == "core 9");
  CHECK(diagnostics.entries().front().message ==
        "kernel double_it touched LDM byte 62000, of which the kernel declares [0, 280)");
}

}  // namespace
}  // namespace stowage
