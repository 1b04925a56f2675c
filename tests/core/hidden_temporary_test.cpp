// SPDX-License-Identifier: Apache-2.0
#include "core/hidden_temporary.h"

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "core/file_writer.h"
#include "core/temporary_folder.h"

namespace stowage {
namespace {

namespace fs = std::filesystem;
using Kind = HiddenTemporary::Kind;

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::ptrdiff_t entries_of(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator{});
}

/// What a file or folder does at a free and at a taken place; true if all is as it is to be.
bool takes_its_place(const fs::path& folder) {
  const auto file = [&](const std::string& text, Existing existing) {
    FileWriter writer(folder / "file", existing);
    writer.write(text);
    return writer.commit();
  };
  const auto made = [&](const std::string& text, Existing existing) {
    HiddenTemporary temporary(folder / "made", Kind::folder);
    write(temporary.path() / "text", text);
    return temporary.put_in_place(existing);
  };
  return !file("1", Existing::keep) && file("2", Existing::keep) == std::errc::file_exists &&
         text_of(folder / "file") == "1" && !file("3", Existing::replace) && text_of(folder / "file") == "3" &&
         !made("1", Existing::keep) && made("2", Existing::keep) == std::errc::file_exists &&
         text_of(folder / "made/text") == "1" && !made("3", Existing::replace) &&
         text_of(folder / "made/text") == "3" && entries_of(folder) == 2;
}

/// From here on this process has a kernel or file system that can rename, but no more than that.
bool forbid_renameat2() {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[4])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),  // without flags it is how some C libraries rename
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {static_cast<unsigned short>(std::size(steps)), steps};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

TEST_CASE("a file or folder takes its place and replaces only what it may") {
  const TemporaryFolder folder;
  CHECK(takes_its_place(folder.path()));
}

TEST_CASE("so it does where the file system cannot exchange or rename without replacing") {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(!forbid_renameat2() ? 2 : takes_its_place(folder.path()) ? 0 : 1);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("only a temporary that nobody holds is removed") {
  const TemporaryFolder folder;
  const fs::path wanted = folder.path() / "x";
  const fs::path left = folder.path() / ".x.stowage-0123456789abcdef";
  write(left, "of a killed process");
  write(folder.path() / ".x.stowage-0123456789abcdeg", "of a person");
  {
    const HiddenTemporary one(wanted, Kind::file);
    const HiddenTemporary two(wanted, Kind::folder);
    CHECK_FALSE(fs::exists(left));
    CHECK(fs::exists(one.path()));
    CHECK(fs::exists(two.path()));
    CHECK(entries_of(folder.path()) == 3);
  }
  CHECK(entries_of(folder.path()) == 1);
}

TEST_CASE("a name as long as a name may be can be written") {
  const TemporaryFolder folder;
  FileWriter writer(folder.path() / std::string(255, 'n'));
  CHECK(writer.write("text"));
  CHECK_FALSE(writer.commit());
  CHECK(text_of(folder.path() / std::string(255, 'n')) == "text");
}

}  // namespace
}  // namespace stowage
