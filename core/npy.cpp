// SPDX-License-Identifier: Apache-2.0
#include "core/npy.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "core/file_writer.h"

namespace stowage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_header = 1 << 16;
constexpr std::size_t max_rank = 32;  // NumPy's own limit

struct TypeCode {
  ElementType type;
  std::string_view code;
};
constexpr std::array<TypeCode, 11> type_codes = {{{ElementType::f32, "<f4"},
                                                  {ElementType::f64, "<f8"},
                                                  {ElementType::i8, "|i1"},
                                                  {ElementType::i16, "<i2"},
                                                  {ElementType::i32, "<i4"},
                                                  {ElementType::i64, "<i8"},
                                                  {ElementType::u8, "|u1"},
                                                  {ElementType::u16, "<u2"},
                                                  {ElementType::u32, "<u4"},
                                                  {ElementType::u64, "<u8"},
                                                  {ElementType::boolean, "|b1"}}};

struct Header {
  std::string descr;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;
};

/// Reads the header, a Python dictionary literal with string keys and strings, booleans or tuples of integers as
/// values.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  std::optional<Header> parse() {
    Header header;
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      const auto key = string();
      if (!key || !take(':')) return std::nullopt;
      if (*key == "descr") {
        const auto value = string();
        if (!value) return std::nullopt;
        header.descr = *value;
      } else if (*key == "fortran_order") {
        header.fortran_order = boolean();
        if (!header.fortran_order) return std::nullopt;
      } else if (*key == "shape") {
        header.shape = tuple();
        if (!header.shape) return std::nullopt;
      } else {
        return std::nullopt;
      }
      if (!take(',') && peek() != '}') return std::nullopt;
    }
    skip_space();
    if (at_ != text_.size() || header.descr.empty() || !header.fortran_order || !header.shape) return std::nullopt;
    return header;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  std::optional<std::string> string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  std::optional<bool> boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    return std::nullopt;
  }
  std::optional<Shape> tuple() {
    if (!take('(')) return std::nullopt;
    Shape shape;
    while (!take(')')) {
      skip_space();
      std::int64_t extent = 0;
      const char* const begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), extent);
      if (error != std::errc{} || extent < 0 || shape.size() == max_rank) return std::nullopt;
      at_ += static_cast<std::size_t>(end - begin);
      take('L');  // files of Python 2
      shape.push_back(extent);
      if (!take(',') && peek() != ')') return std::nullopt;
    }
    return shape;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<ElementType> type_of(std::string_view code) {
  for (const TypeCode& row : type_codes) {
    // The byte order of one byte does not matter; "=" is the writer's own, and NumPy never stores it.
    if (code == row.code || (row.code[0] == '|' && code.size() == 3 && code.substr(1) == row.code.substr(1)))
      return row.type;
  }
  return std::nullopt;
}

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

Result<Tensor> read_npy(const std::string& path, Diagnostics& diagnostics) {
  const auto fail = [&](std::string code, std::string message, std::string remedy = {}) -> Failed {
    SourceLocation location;
    location.file = path;
    diagnostics.error(std::move(code), std::move(location), std::move(message), std::move(remedy));
    return {};
  };
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error || !fs::exists(status)) return fail("no-such-file", "the file does not exist");
  if (!fs::is_regular_file(status)) return fail("not-a-file", "this is not a file");
  const auto file_size = static_cast<std::int64_t>(fs::file_size(path, error));
  std::ifstream file(path, std::ios::binary);
  if (error || !file) return fail("file-unreadable", "the file cannot be read");

  std::array<char, 8> prefix{};
  if (!file.read(prefix.data(), prefix.size()) || std::string_view(prefix.data(), magic.size()) != magic) {
    return fail("not-npy", "this is not a NumPy .npy file", "write it with numpy.save");
  }
  const int version = prefix[6];
  if (version < 1 || version > 3) return fail("not-npy", fmt::format("has the unknown .npy version {}", version));
  std::array<char, 4> size_bytes{};
  const std::size_t size_length = version == 1 ? 2 : 4;
  file.read(size_bytes.data(), static_cast<std::streamsize>(size_length));
  const std::size_t header_size = little_endian({size_bytes.data(), size_length});
  if (!file || header_size > max_header) return fail("not-npy", "the file's header is damaged");
  std::string text(header_size, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(header_size)))
    return fail("not-npy", "the file ends in its header");
  const auto header = HeaderParser(text).parse();
  if (!header) return fail("not-npy", "the file's header is damaged");

  const auto type = type_of(header->descr);
  if (!type) {
    return fail("unsupported-type", fmt::format("holds elements of NumPy type '{}', which are not read", header->descr),
                "convert it, for instance with array.astype('<f4')");
  }
  if (*header->fortran_order && header->shape->size() > 1) {
    return fail("unsupported-layout", "is stored in Fortran order",
                "write it with numpy.save(path, numpy.ascontiguousarray(array))");
  }
  const auto count = checked_element_count(*header->shape);
  std::int64_t bytes = 0;
  const std::int64_t have = file_size - static_cast<std::int64_t>(prefix.size() + size_length + header_size);
  if (!count || __builtin_mul_overflow(*count, static_cast<std::int64_t>(byte_size(*type)), &bytes) || bytes != have) {
    return fail("invalid-tensor",
                fmt::format("declares the shape {}, but holds {} bytes of elements", to_text(*header->shape), have));
  }
  std::vector<std::byte> content(static_cast<std::size_t>(bytes));
  if (!file.read(reinterpret_cast<char*>(content.data()), bytes))
    return fail("file-unreadable", "the file cannot be read");
  if (*type == ElementType::boolean) {
    for (std::byte& b : content) b = b == std::byte{0} ? std::byte{0} : std::byte{1};
  }
  return Tensor(*type, *header->shape, std::move(content));
}

Result<std::string> write_npy(const std::string& path, const Tensor& tensor, Diagnostics& diagnostics) {
  const auto fail = [&](std::string code, std::string message) -> Failed {
    SourceLocation location;
    location.file = path;
    diagnostics.error(std::move(code), std::move(location), std::move(message));
    return {};
  };
  std::string_view code;
  for (const TypeCode& row : type_codes) {
    if (row.type == tensor.type()) code = row.code;
  }
  if (code.empty()) return fail("unsupported-type", fmt::format("{} has no NumPy form here", name_of(tensor.type())));
  std::string shape;
  for (const auto extent : tensor.shape()) shape += fmt::format("{},", extent);
  if (tensor.shape().size() > 1) shape.pop_back();  // "(2,)" but "(2,3)", as Python writes tuples
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", code, shape);
  constexpr std::size_t before = 10;                           // magic, version, length of the header
  header.append(64 - (before + header.size() + 1) % 64, ' ');  // elements start at a multiple of 64 bytes
  header += '\n';

  FileWriter file(path);
  file.write(fmt::format("{}{}{}{}{}{}", magic, '\x01', '\x00', static_cast<char>(header.size() & 0xFFU),
                         static_cast<char>(header.size() >> 8U), header));
  file.write(tensor.bytes());
  if (const std::error_code error = file.commit()) {
    return fail("file-unwritable", "the file cannot be written: " + error.message());
  }
  return path;
}

}  // namespace stowage
