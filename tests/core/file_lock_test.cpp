// SPDX-License-Identifier: Apache-2.0
#include "core/file_lock.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <sys/stat.h>
#include <catch2/catch.hpp>

#include "core/file_writer.h"
#include "core/temporary_folder.h"

namespace stowage {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds none(0);
constexpr std::chrono::seconds long_enough(60);

int number_in(const fs::path& file) {
  int number = 0;
  std::ifstream(file) >> number;
  return number;
}

TEST_CASE("a lock of a file is held once, whoever holds its folder") {
  const TemporaryFolder folder;  // is locked itself
  const fs::path file = folder.path() / "file";
  {
    const FileLock first(file, none);
    CHECK(first.is_held());
    CHECK(fs::exists(file));
    CHECK_FALSE(FileLock(file, none).is_held());
  }
  CHECK(FileLock(file, none).is_held());
}

TEST_CASE("of threads that replace a locked file none loses what another wrote") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "file";
  constexpr int threads = 4;
  constexpr int turns = 50;
  std::atomic<int> held{0};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      for (int turn = 0; turn < turns; ++turn) {
        const FileLock lock(file, long_enough);
        held += lock.is_held() ? 1 : 0;
        FileWriter writer(file);
        writer.write(std::to_string(number_in(file) + 1));
        writer.commit();
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  CHECK(held == threads * turns);
  CHECK(number_in(file) == threads * turns);
}

TEST_CASE("what is no file of ours is not locked, and nobody waits for it") {
  const TemporaryFolder folder;
  const fs::path precious = folder.path() / "precious";
  fs::create_symlink(precious, folder.path() / "link");
  CHECK_FALSE(FileLock(folder.path() / "link", long_enough).is_held());
  CHECK_FALSE(fs::exists(precious));
  CHECK_FALSE(FileLock(folder.path() / "none" / "file", long_enough).is_held());
  fs::create_directory(folder.path() / "folder");
  CHECK_FALSE(FileLock(folder.path() / "folder", long_enough).is_held());
  REQUIRE(::mkfifo((folder.path() / "pipe").c_str(), S_IRWXU) == 0);
  const FileLock pipe(folder.path() / "pipe", none);  // does not hang
}

}  // namespace
}  // namespace stowage
