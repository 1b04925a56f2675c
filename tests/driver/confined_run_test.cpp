// SPDX-License-Identifier: Apache-2.0
// `stowage run` on a folder that somebody else sent: what is compiled, and what the emulated program may do.
#include <filesystem>
#include <fstream>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstddef>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/driver/tool_runner.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

void compile_vector() {
  REQUIRE(run_stowage({"network", "vector", "-o", "vector.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "vector.onnx", "-o", "plan"}).code == 0);
}

/// The plan's main program does `statements` before anything else.
void change_main(const std::string& statements) {
  std::ofstream file("plan/src/main.c", std::ios::app);
  file << "\n#include <errno.h>\n#include <fcntl.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
          "#include <sys/socket.h>\n#include <sys/stat.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
          "static void stop(const char *what) { perror(what); _Exit(9); }\n"
          "__attribute__((constructor)) static void mine(void) {\n"
       << statements << "\n}\n";
  file.close();
  REQUIRE(file.good());
}

std::string quoted(const fs::path& path) { return '"' + fs::absolute(path).string() + '"'; }

ToolRun run_changed(const std::vector<std::string>& further = {}) {
  std::vector<std::string> arguments = {"run", "plan", "--changed-sources"};
  arguments.insert(arguments.end(), further.begin(), further.end());
  return run_stowage(arguments);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("changed sources are not compiled unless --changed-sources is given, and are named") {
  const Workplace here;
  compile_vector();
  const std::string header = read_text("plan/src/sw_rt.h");
  change_main("#error compiled");
  write_text("plan/src/sw_rt.h", header + "\n");
  const ToolRun run = run_stowage({"run", "plan", "--check"});
  CHECK(run.code == 1);
  CHECK(run.out == "");
  for (const char* file : {"plan/src/main.c", "plan/src/sw_rt.h"}) {
    CHECK(holds(run.err, std::string(file) +
                             ": error: differs from what the plan emits: it was changed, or another version of "
                             "Stowage wrote it; nothing was compiled [source-changed]\n"
                             "  help: compile the model again, or read it and give --changed-sources to run it as it "
                             "is\n"));
  }
  CHECK_FALSE(holds(run.err, "#error"));
  const ToolRun json = run_stowage({"run", "plan", "--json"});
  CHECK(json.code == 1);
  CHECK(nlohmann::json::parse(json.out).at("diagnostics").at(0).at("code") == "source-changed");

  const ToolRun wanted = run_changed();
  CHECK(wanted.code == 1);
  CHECK(holds(wanted.err, "plan/src/main.c: warning: differs from what was emitted"));
  CHECK(holds(wanted.err, "#error compiled"));
  CHECK(run_changed({"--op", "vector"}).code == 2);  // a program of its own, emitted anew

  // One fused operator alone is emitted anew, so that nothing of the folder is compiled.
  const ToolRun alone = run_stowage({"run", "plan", "--op", "vector", "--check"});
  INFO(alone.err);
  CHECK(alone.code == 0);
  CHECK(holds(alone.err, "plan/src/main.c: warning: differs from what was emitted"));
}

TEST_CASE("the output says that changed sources were run") {
  const Workplace here;
  compile_vector();
  change_main("(void)stop;");
  const ToolRun run = run_changed();
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(holds(run.out, " --changed-sources "));
  CHECK(holds(run.out, "run as changed by hand: plan/src/main.c\n"));
  const auto json = nlohmann::json::parse(run_changed({"--json"}).out);
  CHECK(json.at("changed_sources") == nlohmann::json::array({"plan/src/main.c"}));
}

TEST_CASE("an emulated program cannot write outside its folder") {
  const Workplace here;
  compile_vector();
  fs::create_directory("outside");
  write_text("outside/mine", "precious");
  fs::permissions("outside/mine", fs::perms::owner_all);
  change_main(
      "FILE *inside = fopen(\"inside\", \"w\"); if (!inside) stop(\"inside\"); fclose(inside);\n"
      "remove(\"inside\");\n"
      "int open_for_reading = open(" +
      quoted("outside/mine") +
      ", O_RDONLY | O_TRUNC); (void)open_for_reading;\n"
      "int done = truncate(" +
      quoted("outside/mine") +
      ", 0) == 0;\n"
      "done |= chmod(" +
      quoted("outside/mine") +
      ", 0) == 0;\n"
      "done |= unlink(" +
      quoted("outside/mine") +
      ") == 0;\n"
      "done |= rename(" +
      quoted("outside/mine") +
      ", \"taken\") == 0;\n"
      "done |= symlink(" +
      quoted("outside/mine") +
      ", \"output_0.bin\") == 0;\n"
      "done |= mkfifo(\"report\", 0600) == 0;\n"
      "done |= mkdir(" +
      quoted("outside/folder") +
      ", 0700) == 0;\n"
      "if (done) _Exit(0);\n"
      "if (!fopen(" +
      quoted("outside/new") + ", \"w\")) stop(\"outside\");");
  const ToolRun run = run_changed();
  INFO(run.err);
  CHECK(run.code == 1);
  CHECK(holds(run.err, "error: the emulated program ended with exit code 9 [emulation-failed]"));
  CHECK(holds(run.err, "outside: Permission denied"));
  CHECK(read_text("outside/mine") == "precious");
  CHECK((fs::status("outside/mine").permissions() & fs::perms::owner_all) == fs::perms::owner_all);
  CHECK(files_below("outside").size() == 1);
}

TEST_CASE("an emulated program reaches no network, starts no program and signals no other process") {
  const Workplace here;
  compile_vector();
  const auto attempt = GENERATE(
      std::string("if (socket(AF_INET, SOCK_STREAM, 0) < 0) stop(\"attempt\");"),
      std::string("if (socket(AF_UNIX, SOCK_STREAM, 0) < 0) stop(\"attempt\");"),
      std::string("if (fork() < 0) stop(\"attempt\");"), std::string("if (system(\"true\") != 0) stop(\"attempt\");"),
      std::string("char *none[] = {0}; execve(\"/bin/true\", none, none); stop(\"attempt\");"),
      std::string("if (kill(getppid(), 0) != 0) stop(\"attempt\");"));
  INFO(attempt);
  change_main(attempt);
  const ToolRun run = run_changed();
  INFO(run.err);
  CHECK(run.code == 1);
  CHECK(holds(run.err, "error: the emulated program ended with exit code 9 [emulation-failed]"));
  CHECK(holds(run.err, "attempt: Operation not permitted"));
}

TEST_CASE("an emulated program that never ends is ended by the time limit") {
  const Workplace here;
  compile_vector();
  const std::string first =
      GENERATE(std::string(), std::string("close(1); close(2); "));  // nothing to wait for but its end
  change_main("(void)stop; " + first + "for (volatile int i = 0;;) i = 1;");
  const ToolRun run = run_changed({"--time-limit", "1.5"});
  CHECK(run.code == 1);
  CHECK(holds(run.err,
              "error: the emulated program had not ended after 1.5 s and was stopped [emulation-time-limit]\n"
              "  help: give it longer with --time-limit SECONDS\n"));
  CHECK(run_stowage({"run", "plan", "--time-limit", "0"}).code == 2);
}

TEST_CASE("an emulated program that allocates or prints without end is stopped") {
  const Workplace here;
  compile_vector();
  SECTION("memory") {
    change_main("for (;;) { char *p = malloc(1u << 26); if (!p) stop(\"memory\"); *p = 1; }");
    const ToolRun run = run_changed({"--time-limit", "60"});
    CHECK(run.code == 1);
    CHECK(holds(run.err, "memory: Cannot allocate memory"));
    CHECK(holds(run.err, "its memory was limited to "));
  }
  SECTION("output") {
    change_main(
        "(void)stop; for (long i = 0; i < 2000000; i++) puts(\"a line of forty characters, and no end.\"); _Exit(9);");
    const ToolRun run = run_changed({"--time-limit", "60"});
    CHECK(run.code == 1);
    CHECK(holds(run.err, "ended with exit code 9"));
    CHECK(run.err.size() < 20000);
  }
}

TEST_CASE("an emulated program that writes false results is refused") {
  const Workplace here;
  compile_vector();
  SECTION("report of launches that there are not") {
    change_main(
        "FILE *f = fopen(\"report\", \"w\"); if (!f) stop(\"report\");\n"
        "fputs(\"ldm 7 1\\nend\\n\", f); fclose(f); _Exit(0);");
    const ToolRun run = run_changed();
    CHECK(run.code == 1);
    CHECK(holds(run.err, "the emulated program ended with exit code 0 [emulation-failed]"));
  }
  SECTION("output of another size") {
    change_main(
        "(void)stop; }\n__attribute__((destructor)) static void at_the_end(void) {\n"
        "FILE *f = fopen(\"output_0.bin\", \"w\"); if (f) fclose(f);");
    const ToolRun run = run_changed();
    CHECK(run.code == 1);
    CHECK(holds(run.err, "the emulated program wrote 0 bytes of output 'v', which has 4096 [emulation-failed]"));
  }
}

/// `stowage run plan` on a kernel that knows no Landlock; its errors go to err.txt.
int run_on_an_old_kernel() {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::array<sock_filter, 4> filter = {
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {filter.size(), filter.data()};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    const std::string tool = test::build_folder().string() + "/driver/stowage";
    if (freopen("err.txt", "w", stderr) == nullptr || freopen("out.txt", "w", stdout) == nullptr) _exit(100);
    execl(tool.c_str(), tool.c_str(), "run", "plan", nullptr);
    _exit(101);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("a kernel that cannot confine the emulated program is said once") {
  const Workplace here;
  compile_vector();
  REQUIRE(run_on_an_old_kernel() == 0);
  CHECK(read_text("err.txt") ==
        "note: this kernel does not keep the emulated program from writing outside its folder (Landlock is missing) "
        "[emulation-unconfined]\n");
}

}  // namespace
}  // namespace stowage::test
