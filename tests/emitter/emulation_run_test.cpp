// SPDX-License-Identifier: Apache-2.0
// Good hand-written programs: numbers, counts, dumps, and what surrounds a run.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "core/temporary_folder.h"
#include "emitter/emulation/emulation_runtime.h"
#include "emitter/process/process.h"
#include "emulation_program.h"

namespace stowage {
namespace {

using test::doubling_job;
using test::KernelText;

std::vector<float> floats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

void check_doubled(const std::vector<std::byte>& bytes) {
  const std::vector<float> y = floats(bytes);
  REQUIRE(y.size() == test::cores * test::elements);
  for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(y[i] == 2.0F * static_cast<float>(i));
}

EmulationRun run(const EmulationJob& job) {
  Diagnostics diagnostics;
  auto result = run_emulated_sources(job, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(result);
  REQUIRE(diagnostics.entries().empty());
  return *result;
}

const LineCount* find(const EmulationRun& run, int launch, int line) {
  for (const LineCount& count : run.counts)
    if (count.launch == launch && count.file == "double.s.c" && count.line == line) return &count;
  return nullptr;
}

TEST_CASE("a good program runs at every level, with gcc and clang, with and without the sanitizer") {
  for (const std::string compiler : {"gcc", "clang"}) {
    for (const auto level : {EmulationLevel::count, EmulationLevel::check, EmulationLevel::strict}) {
      for (const bool sanitize : {false, true}) {
        if (sanitize && level == EmulationLevel::count) continue;
        EmulationJob job = doubling_job({}, level);
        job.options.compiler = compiler;
        job.options.sanitize = sanitize;
        job.options.seed = 17;
        INFO(compiler << " level " << static_cast<int>(level) << " sanitize " << sanitize);
        const EmulationRun result = run(job);
        check_doubled(result.results.at(0));
        check_doubled(result.dumps.at(0));
        CHECK(result.parameter_fetches == test::cores);
        const LineCount* get = find(result, 0, test::line_of_get);
        REQUIRE(get != nullptr);
        CHECK(get->operations == test::cores);
        CHECK(get->bytes == test::cores * 128);
        CHECK(get->transfers == test::cores);
        CHECK(find(result, 0, test::line_of_wait) == nullptr);
        CHECK(find(result, 0, test::line_of_put)->operations == test::cores);
        CHECK(find(result, 0, test::line_of_put)->transfers == test::cores);
        CHECK(result.ldm_peak_bytes == std::vector<std::int64_t>{2 * 128});
      }
    }
  }
}

TEST_CASE("counts are kept for every launch of a shared kernel") {
  const EmulationRun result = run(doubling_job({}, EmulationLevel::check, 3));
  for (int launch = 0; launch < 3; ++launch) {
    REQUIRE(find(result, launch, test::line_of_get) != nullptr);
    CHECK(find(result, launch, test::line_of_get)->operations == test::cores);
    check_doubled(result.dumps.at(static_cast<std::size_t>(launch)));
  }
  CHECK(result.ldm_peak_bytes.size() == 3);
  CHECK(result.parameter_fetches == 3 * test::cores);
}

TEST_CASE("a transfer is what was begun since its reply word was zeroed, and a wait for nothing is none") {
  KernelText kernel;
  kernel.after_get = "dma_wait(&ldm->r1, (ldm->r1 = 0)); dma_wait(&ldm->r0, 1); ldm->r0 = 0;";
  kernel.wait = "dma_wait(&ldm->r0, 0);";
  const EmulationRun result = run(doubling_job(kernel, EmulationLevel::check));
  CHECK(find(result, 0, test::line_of_wait) == nullptr);
  CHECK(find(result, 0, test::line_of_get)->transfers == test::cores);
  // Two operations of one reply word are one transfer; zeroed in between they are two.
  for (const bool apart : {false, true}) {
    for (const auto level : {EmulationLevel::count, EmulationLevel::check, EmulationLevel::strict}) {
      KernelText halves;
      halves.get = std::string("for (int h = 0; h < 2; h++) { ") +
                   (apart ? "if (h == 1) { dma_wait(&ldm->r0, 1); ldm->r0 = 0; } " : "") +
                   "athread_get(PE_MODE, x + 16 * h, &ldm->a[16 * h], 64, (void *)&ldm->r0, 0, 0, 0); }";
      halves.wait = apart ? "dma_wait(&ldm->r0, 1);" : "dma_wait(&ldm->r0, 2);";
      const EmulationRun counted = run(doubling_job(halves, level));
      check_doubled(counted.results.at(0));
      CHECK(find(counted, 0, test::line_of_get)->operations == 2 * test::cores);
      CHECK(find(counted, 0, test::line_of_get)->transfers == (apart ? 2 : 1) * test::cores);
    }
  }
}

TEST_CASE("strided operations move blocks between gaps") {
  for (const auto level : {EmulationLevel::count, EmulationLevel::check, EmulationLevel::strict}) {
    KernelText kernel;
    // Core c moves elements c, c + 64, c + 128 … instead: blocks of one element, the gap is the pitch less the block.
    kernel.get = "athread_get(PE_MODE, x - core * 31, ldm->a, 128, (void *)&ldm->r0, 0, 63 * 4, 4);";
    kernel.put = "athread_put(PE_MODE, ldm->b, y - core * 31, 128, (void *)&ldm->r1, 63 * 4, 4);";
    EmulationJob job = doubling_job(kernel, level);
    Diagnostics diagnostics;
    const auto result = run_emulated_sources(job, diagnostics);
    INFO(format_diagnostics(diagnostics));
    REQUIRE(result);
    check_doubled(result->results.at(0));
    if (level == EmulationLevel::count) continue;
    REQUIRE(diagnostics.entries().size() == 1);  // 64 cores write every 128-byte line
    CHECK(diagnostics.entries().front().severity == Severity::warning);
    CHECK(diagnostics.entries().front().code == "emulation-shared-line");
    CHECK(diagnostics.entries().front().location.line == test::line_of_put);
  }
}

TEST_CASE("cores exchange data through main memory across a barrier") {
  KernelText kernel;
  kernel.after_put =
      "dma_wait(&ldm->r1, 1); athread_syn(ARRAY_SCOPE, 0xffff); ldm->r0 = 0; "
      "athread_get(PE_MODE, ldm->para.y + (core ^ 63) * 32, ldm->a, 128, (void *)&ldm->r0, 0, 0, 0); "
      "dma_wait(&ldm->r0, 1); athread_syn(ARRAY_SCOPE, 0xffff); ldm->r1 = 0; "
      "athread_put(PE_MODE, ldm->a, y, 128, (void *)&ldm->r1, 0, 0);";
  for (const int workers : {1, 2, 5}) {
    EmulationJob job = doubling_job(kernel, EmulationLevel::strict);
    job.options.workers = workers;
    job.options.seed = static_cast<std::uint64_t>(workers);
    const std::vector<float> y = floats(run(job).results.at(0));
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t from = (i / 32 ^ 63) * 32 + i % 32;
      REQUIRE(y[i] == 2.0F * static_cast<float>(from));
    }
  }
}

TEST_CASE("the sources build and run by hand, also with the portable fibers") {
  for (const std::string fibers : {"-DSW_EMULATION", "-DSWEMU_UCONTEXT"}) {
    const TemporaryFolder folder;
    KernelText kernel;
    kernel.compute += " athread_syn(ARRAY_SCOPE, 0xffff);";
    for (const SourceText& source : doubling_job(kernel, EmulationLevel::check).sources)
      std::ofstream(folder.path() / source.path) << source.text;
    std::filesystem::create_directory(folder.path() / "runtime");
    write_emulation_runtime(folder.path() / "runtime");
    // The line of docs/emulation.md; /bin/sh for the wildcards.
    const std::string line =
        "cc -std=gnu99 -O2 -march=native -Wall -Wextra -DSW_EMULATION -pthread -I runtime *.c runtime/*.c -lm -o "
        "program " +
        fibers + " && ./program";
    const ProcessResult result = run_process({"sh", "-c", line}, folder.path());
    CHECK(result.output == "");
    CHECK(result.exit_code == 0);
    std::ifstream output(folder.path() / "output_0.bin", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(output), {}};
    const auto bytes = std::as_bytes(std::span(text));
    check_doubled({bytes.begin(), bytes.end()});
  }
}

TEST_CASE("a problem is printed for a person who runs the program by hand") {
  const TemporaryFolder folder;
  KernelText kernel;
  kernel.wait = "";
  for (const SourceText& source : doubling_job(kernel, EmulationLevel::check).sources)
    std::ofstream(folder.path() / source.path) << source.text;
  write_emulation_runtime(folder.path());
  const ProcessResult result =
      run_process({"sh", "-c", "cc -std=gnu99 -DSW_EMULATION -pthread *.c -lm -o program && ./program"}, folder.path());
  CHECK(result.exit_code == 86);
  CHECK(result.output ==
        "double.s.c:19: core 0: error: kernel double_it returned without waiting for this athread_get of LDM bytes "
        "[0, 128) [emulation-never-awaited]\n");
}

TEST_CASE("a machine without a C compiler is told so") {
  EmulationJob job = doubling_job({}, EmulationLevel::count);
  job.options.compiler = "no-such-compiler";
  Diagnostics diagnostics;
  CHECK_FALSE(run_emulated_sources(job, diagnostics));
  REQUIRE(diagnostics.entries().size() == 1);
  CHECK(diagnostics.entries().front().code == "no-c-compiler");
  CHECK(diagnostics.entries().front().message == "the C compiler 'no-such-compiler' was not found");
}

TEST_CASE("damaged files of the runtime's cache are made anew") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string kept = before != nullptr ? before : "";
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  const EmulationJob job = doubling_job({}, EmulationLevel::count);
  check_doubled(run(job).results.at(0));
  const fs::path cache = folder.path() / "stowage";
  const auto entries = [&] { return std::distance(fs::directory_iterator(cache), fs::directory_iterator()); };
  REQUIRE(entries() == 1);
  const fs::path built = fs::directory_iterator(cache)->path();
  const std::vector<std::function<void()>> damages = {
      [&] { fs::resize_file(built / "swemu_dma.o", 0); },
      [&] { fs::remove(built / "swemu_run.o"); },
      [&] { fs::remove(built / "athread.h"); },
      [&] { fs::resize_file(built / "slave.h", 100); },
      [&] {
        std::fstream(built / "swemu_report.o", std::ios::in | std::ios::out | std::ios::binary).write("damaged", 7);
      },
      [&] { fs::remove_all(built); },
      [&] {
        fs::remove_all(built);
        std::ofstream(built) << "a file";
      },
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    INFO("damage " << i);
    damages[i]();
    check_doubled(run(job).results.at(0));
    CHECK(entries() == 1);
  }
  if (before != nullptr) {
    setenv("XDG_CACHE_HOME", kept.c_str(), 1);
  } else {
    unsetenv("XDG_CACHE_HOME");
  }
}

TEST_CASE("a source that does not compile is a diagnostic with the compiler's words") {
  KernelText kernel;
  kernel.compute = "undeclared = 1;";
  Diagnostics diagnostics;
  CHECK_FALSE(run_emulated_sources(doubling_job(kernel, EmulationLevel::count), diagnostics));
  REQUIRE(diagnostics.has_errors());
  CHECK(diagnostics.entries().front().code == "c-compilation-failed");
  CHECK(diagnostics.entries().front().location.file == "double.s.c");
  CHECK(format_diagnostics(diagnostics).find("undeclared") != std::string::npos);
}

TEST_CASE("a run stops within a second when asked, and leaves nothing behind") {
  KernelText kernel;
  kernel.compute = "for (volatile int stop = 0; !stop;) { }";
  const TemporaryFolder folder;
  setenv("TMPDIR", folder.path().c_str(), 1);
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    source.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  Diagnostics diagnostics;
  CHECK_FALSE(run_emulated_sources(doubling_job(kernel, EmulationLevel::check), diagnostics, source.get_token()));
  unsetenv("TMPDIR");
  CHECK_FALSE(diagnostics.has_errors());
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(1700));
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace stowage
