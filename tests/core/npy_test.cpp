// SPDX-License-Identifier: Apache-2.0
#include "core/npy.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "core/temporary_folder.h"

using namespace stowage;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] std::string with(const std::string& name, const std::string& content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }

 private:
  TemporaryFolder folder_;
};

std::string npy(char version, const std::string& header, const std::string& elements) {
  std::string text = "\x93NUMPY";
  text += version;
  text += '\0';
  text += static_cast<char>(header.size() & 0xFFU);
  text += static_cast<char>(header.size() >> 8U);
  if (version > 1) text += std::string(2, '\0');
  return text + header + elements;
}

std::string code_of(const std::string& path) {
  Diagnostics diagnostics;
  const auto tensor = read_npy(path, diagnostics);
  CHECK_FALSE(tensor);
  REQUIRE(diagnostics.entries().size() == 1);
  CHECK(diagnostics.entries()[0].location.file == path);
  return diagnostics.entries()[0].code;
}

}  // namespace

TEST_CASE("npy files come back as they were written, for every type and rank") {
  const Folder folder;
  for (const ElementType type :
       {ElementType::f32, ElementType::f64, ElementType::i8, ElementType::i16, ElementType::i32, ElementType::i64,
        ElementType::u8, ElementType::u16, ElementType::u32, ElementType::u64, ElementType::boolean}) {
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{0, 4}, Shape{2, 1, 3, 2}}) {
      const auto count = static_cast<std::size_t>(element_count(shape));
      std::vector<std::byte> bytes(count * static_cast<std::size_t>(byte_size(type)));
      for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(type == ElementType::boolean ? i % 2 : i * 7);
      const Tensor tensor(type, shape, bytes);
      Diagnostics diagnostics;
      const auto written = write_npy(folder.file("t.npy"), tensor, diagnostics);
      REQUIRE(written);
      const auto read = read_npy(*written, diagnostics);
      REQUIRE(read);
      CHECK(read->type() == type);
      CHECK(read->shape() == shape);
      CHECK(std::equal(bytes.begin(), bytes.end(), read->bytes().begin(), read->bytes().end()));
    }
  }
}

TEST_CASE("npy elements start at a multiple of 64 bytes and the header is NumPy's") {
  const Folder folder;
  Diagnostics diagnostics;
  const std::vector<float> values(6, 1.5F);
  REQUIRE(write_npy(folder.file("t.npy"), Tensor::of_floats({2, 3}, values), diagnostics));
  std::ifstream file(folder.file("t.npy"), std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  CHECK((text.size() - 24) % 64 == 0);
  CHECK(text.substr(10, 60) == "{'descr': '<f4', 'fortran_order': False, 'shape': (2,3), }  ");
}

TEST_CASE("npy files of version 2 and 3, of Python 2 and with spaces are read") {
  const Folder folder;
  const std::string elements(8, '\x01');
  for (const char version : {'\x01', '\x02', '\x03'}) {
    Diagnostics diagnostics;
    const auto tensor = read_npy(
        folder.with("t.npy",
                    npy(version, "{'shape': (2L , 1L,), \"descr\": '<i4', 'fortran_order': False}\n", elements)),
        diagnostics);
    REQUIRE(tensor);
    CHECK(tensor->shape() == Shape{2, 1});
    CHECK(tensor->as_int64(0) == 0x01010101);
  }
}

TEST_CASE("a bool npy holds only 0 and 1") {
  const Folder folder;
  Diagnostics diagnostics;
  const auto tensor = read_npy(
      folder.with("t.npy",
                  npy('\x01', "{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", std::string("\x00\x05", 2))),
      diagnostics);
  REQUIRE(tensor);
  CHECK(tensor->as_int64(0) == 0);
  CHECK(tensor->as_int64(1) == 1);
}

TEST_CASE("bad npy files are refused with the reason") {
  const Folder folder;
  const std::string four(4, '\0');
  const auto f4 = [](const std::string& shape) {
    return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}";
  };
  CHECK(code_of(folder.file("none.npy")) == "no-such-file");
  CHECK(code_of(fs::temp_directory_path().string()) == "not-a-file");
  CHECK(code_of(folder.with("a.npy", "")) == "not-npy");
  CHECK(code_of(folder.with("b.npy", "not a numpy file at all")) == "not-npy");
  CHECK(code_of(folder.with("c.npy", npy('\x09', f4("(1,)"), four))) == "not-npy");
  CHECK(code_of(folder.with("d.npy", npy('\x01', f4("(1,)"), four).substr(0, 30))) == "not-npy");
  CHECK(code_of(folder.with("e.npy", npy('\x01', "{'descr': '<f4'}", four))) == "not-npy");
  CHECK(code_of(folder.with("f.npy", npy('\x01', f4("(-1,)"), four))) == "not-npy");
  CHECK(code_of(folder.with("g.npy", npy('\x01', f4("(1,"), four))) == "not-npy");
  CHECK(code_of(folder.with("h.npy", npy('\x01', f4("(2,)"), four))) == "invalid-tensor");
  CHECK(code_of(folder.with("i.npy", npy('\x01', f4("(4611686018427387904,4)"), four))) == "invalid-tensor");
  CHECK(code_of(folder.with("j.npy", npy('\x01', "{'descr': '<f2', 'fortran_order': False, 'shape': (2,)}", four))) ==
        "unsupported-type");
  CHECK(code_of(folder.with("k.npy", npy('\x01', "{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", four))) ==
        "unsupported-type");
  CHECK(code_of(folder.with("l.npy", npy('\x01', "{'descr': '|u1', 'fortran_order': True, 'shape': (2,2)}", four))) ==
        "unsupported-layout");
}

TEST_CASE("an npy file that cannot be written leaves nothing behind") {
  const Folder folder;
  Diagnostics diagnostics;
  CHECK_FALSE(write_npy(folder.file("missing/t.npy"), Tensor::scalar(ElementType::f32, 1), diagnostics));
  REQUIRE(diagnostics.entries().size() == 1);
  CHECK(diagnostics.entries()[0].code == "file-unwritable");
  CHECK_FALSE(fs::exists(folder.file("missing")));
}
