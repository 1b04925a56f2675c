// SPDX-License-Identifier: Apache-2.0
// What a batch needs of memory for a job that is there already: tests/benchmarks/batch.sh measures more of them.
#include <sys/resource.h>
#include <sys/wait.h>
#include <catch2/catch.hpp>

#include "tests/driver/tool_process.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

/// The peak of a batch of so many jobs, all of which were run before, in KiB. They fail, so that they are run quickly.
long peak_of_kept(int jobs) {
  const std::string name = std::to_string(jobs);
  write_text(name + ".toml",
             "[[job]]\nname = \"a_long_name_for_a_job\"\nmodel = \"missing.onnx\"\n[job.sweep]\n"
             "\"target.ldm.bytes\" = { from = 8192, to = " +
                 std::to_string(8192 + 4 * (jobs - 1)) + ", step = 4 }\n");
  CHECK(wait_for(start({"batch", name + ".toml"})) == 1);
  const std::string results = read_text(name + "-out/results.jsonl");
  const pid_t again = start({"batch", name + ".toml"});
  int status = 0;
  rusage used{};
  REQUIRE(::wait4(again, &status, 0, &used) == again);
  CHECK(WEXITSTATUS(status) == 1);
  CHECK(read_text(name + "-out/results.jsonl") == results);
  CHECK(read_text("err.txt").find(" were run before and are not run again") != std::string::npos);
  return used.ru_maxrss;
}

}  // namespace

TEST_CASE("a batch holds little of a job that is kept") {
  const Workplace here;
  const long few = peak_of_kept(300);
  const long many = peak_of_kept(3000);
  INFO(few << " and " << many << " KiB");
  // It was 8 KiB a job, then 1.2, and is 0.5.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these keep what is freed
  CHECK(many - few < 2700);
#endif
}

}  // namespace stowage::test
