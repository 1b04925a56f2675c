// SPDX-License-Identifier: Apache-2.0
#include "driver/files/gzip.h"

#include <zlib.h>

#include "core/check.h"

namespace stowage {

std::string gzipped(std::string_view text) {
  constexpr int largest_window = 15;
  constexpr int with_gzip_header = 16;
  constexpr int usual_memory = 8;
  constexpr std::size_t piece = std::size_t{1} << 20;
  z_stream stream{};
  check(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, largest_window + with_gzip_header, usual_memory,
                     Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib takes its own constants");
  std::string packed;
  std::string buffer(piece, '\0');
  // zlib counts in 32 bits and takes what it reads as bytes that may be written.
  std::string input;
  int state = Z_OK;
  for (std::size_t at = 0; state != Z_STREAM_END;) {
    if (stream.avail_in == 0 && at < text.size()) {
      input = text.substr(at, piece);
      at += input.size();
      stream.next_in = reinterpret_cast<Bytef*>(input.data());
      stream.avail_in = static_cast<uInt>(input.size());
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    state = deflate(&stream, at < text.size() ? Z_NO_FLUSH : Z_FINISH);
    check(state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR, "zlib packs what it is given");
    packed.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return packed;
}

}  // namespace stowage
