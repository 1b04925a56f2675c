// SPDX-License-Identifier: Apache-2.0
#include "tests/emitter/vendor_compile.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "core/check.h"
#include "core/temporary_folder.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view flags =
    "-std=gnu99 -fsyntax-only -Werror -Wall -Wextra -Wpointer-sign -Wsign-compare -Wstrict-prototypes "
    "-Wmissing-declarations -Wshadow";

/// A kernel's prototype stands in no header: its name is known on the management core only with the vendor's prefix.
constexpr std::string_view compute_flags = "-DSW_COMPUTE_CORE -Wno-missing-declarations";

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

std::string complaints_of_vendor_headers(const std::vector<const EmittedProgram*>& programs) {
  const TemporaryFolder folder;
  // Names of files go through response files: a network has hundreds.
  std::ofstream host(folder.path() / "host.files");
  std::ofstream compute(folder.path() / "compute.files");
  for (std::size_t p = 0; p < programs.size(); ++p) {
    const std::string sources = fmt::format("p{}", p);
    fs::create_directory(folder.path() / sources);
    for (const EmittedFile& file : programs[p]->files) {
      std::ofstream(folder.path() / sources / file.path, std::ios::binary) << file.text;
      if (!file.path.ends_with(".c")) continue;
      (file.path.ends_with(".s.c") ? compute : host) << sources << '/' << file.path << '\n';
    }
  }
  host.close();
  compute.close();
  const std::string headers = (source_folder() / "tests/emitter/vendor").string();
  // Both compilers at once, each side's complaints into a file of its own.
  std::string command = fmt::format("cd '{}'\n", folder.path().string());
  for (const char* compiler : {"gcc", "clang"}) {
    command += "{ ";
    for (const auto& [side, more] : {std::pair("host", std::string_view()), std::pair("compute", compute_flags)}) {
      command += fmt::format("{0} {1} {2} -I '{3}/{4}' @{4}.files > {0}.{4} 2>&1 || echo failed >> {0}.{4}; ", compiler,
                             flags, more, headers, side);
    }
    command += "} &\n";
  }
  check(std::system((command + "wait").c_str()) == 0, "no shell");
  std::string complaints;
  for (const char* compiler : {"gcc", "clang"}) {
    for (const char* side : {"host", "compute"}) {
      const std::string log = read_text(folder.path() / fmt::format("{}.{}", compiler, side));
      if (!log.empty()) complaints += fmt::format("{}, {} side:\n{}\n", compiler, side, log);
    }
  }
  return complaints;
}

}  // namespace stowage::test
