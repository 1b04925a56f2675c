// SPDX-License-Identifier: Apache-2.0
// Nests of a product with a bound in its place and a pool over windows of its rows: what is carried in registers, and
// kept from tile to tile.
#pragma once

#include <string>

#include <fmt/format.h>

namespace stowage::test {

/// Y[y, l] = the largest of three rows, from y or (padded) y - 1 on, of max(X * W + B, 0); in tiles of rows of Y.
struct ChainNest {
  int tile = 2;  ///< rows of Y
  int tiles = 4;
  int summed = 4;        ///< elements of a sum
  int summed_tiles = 1;  ///< in which it is summed
  int lanes = 8;
  bool padded = false;  ///< Y has as many rows as the product, which is zero outside
  int slots = 1;        ///< of X, whose transfers block until double_buffer has been

  [[nodiscard]] int rows() const { return tile * tiles + (padded ? 0 : 2); }

  [[nodiscard]] std::string text() const {
    const int box = tile + 2;
    const auto aligned = [](int elements) { return (4 * elements + 31) / 32 * 32; };
    const std::string y = fmt::format("{0}*yo:{0}*yo + {0}", tile);
    const std::string begin = padded ? fmt::format("{}*yo - 1", tile) : fmt::format("{}*yo", tile);
    const std::string first = padded ? fmt::format("max({}*yo - 1, 0)", tile) : begin;
    const std::string wanted =
        padded ? fmt::format("{0}:{0} + min({1}*yo + {2}, {3}) - {0} <= {4}", first, tile, tile + 1, rows(), box)
               : fmt::format("{0}:{0} + {1}", first, box);
    const int step = summed / summed_tiles;
    const std::string k = summed_tiles > 1 ? fmt::format("{0}*ko:{0}*ko + {0}", step) : fmt::format("0:{}", summed);
    const int x_bytes = slots > 1 ? slots * aligned(box * step) : 4 * box * step;
    const int w_at = slots * aligned(box * step), b_at = w_at + aligned(step * lanes), t_at = b_at + aligned(lanes);
    const int y_at = t_at + aligned(box * lanes);
    std::string text = fmt::format(
        "nest chain {{\n  input X f32[{0},{1}]\n  input W f32[{1},{2}]\n  input B f32[{2}]\n"
        "  intermediate T f32[{0},{2}]\n  intermediate R f32[{0},{2}]\n  output Y f32[{3},{2}]\n"
        "  stage product {{\n    T[y < {0}, l < {2}] = sum over k < {1} of (#0 * #1)\n    #0 = X[y, k]\n"
        "    #1 = W[k, l]\n  }}\n  stage bound {{\n    R[y < {0}, l < {2}] = max((#1 + #0), 0.0)\n    #0 = B[l]\n"
        "    #1 = T[y, l]\n  }}\n  stage pool {{\n    Y[y < {3}, l < {2}] = max over w < 3 of #0\n"
        "    #0 = R[y + w{4}, l]{5}\n  }}\n  variables yo{6}\n  memory X = X strides [{1}, 1]\n"
        "  memory W = W strides [{2}, 1]\n  memory B = B strides [1]\n  memory Y = Y strides [{2}, 1] written\n",
        rows(), summed, lanes, tile * tiles, padded ? " - 1" : "", padded ? " else 0" : "",
        summed_tiles > 1 ? ", ko" : "");
    text += fmt::format("  ldm {} bytes\n", y_at + aligned(tile * lanes));
    const std::string summed_at = summed_tiles > 1 ? fmt::format("{}*ko", step) : "0";
    text += fmt::format("  buffer XX f32[{},{}] at 0, {} bytes = X[{}, {}]{}\n", box, step, x_bytes, first, summed_at,
                        slots > 1 ? fmt::format(" slots {}", slots) : "");
    text += fmt::format("  buffer WW f32[{},{}] at {}, {} bytes = W[{}, 0]\n", step, lanes, w_at, 4 * step * lanes,
                        summed_at);
    text += fmt::format("  buffer BB f32[{}] at {}, {} bytes = B[0]\n", lanes, b_at, 4 * lanes);
    for (const char* name : {"T", "R"}) {
      text += fmt::format("  buffer {0}{0} f32[{1},{2}] at {3}, {4} bytes = {0}[{5}, 0]{6}\n", name, box, lanes, t_at,
                          4 * box * lanes, begin, name[0] == 'R' ? " sharing TT" : "");
    }
    text += fmt::format("  buffer YY f32[{},{}] at {}, {} bytes = Y[{}*yo, 0]\n", tile, lanes, y_at, 4 * tile * lanes,
                        tile);
    text += fmt::format(
        "  body {{\n    0  get B[0:{0}] -> BB\n    1  wait 0\n    2  for yo < {1} of y {{\n"
        "    3    fill TT with 0  // begins\n",
        lanes, tiles);
    const std::string sum = fmt::format(
        "get X[{0}, {1}] -> XX\n{4}get W[{1}, 0:{2}] -> WW\n{5}wait {3}\n{6}wait {7}\n"
        "{8}compute update TT = product(XX, WW) over y={0}, l=0:{2}, k={1} as register_block lane l block y\n",
        wanted, k, lanes, summed_tiles > 1 ? 5 : 4, summed_tiles > 1 ? "    6      " : "    5    ",
        summed_tiles > 1 ? "    7      " : "    6    ", summed_tiles > 1 ? "    8      " : "    7    ",
        summed_tiles > 1 ? 6 : 5, summed_tiles > 1 ? "    9      " : "    8    ");
    text += summed_tiles > 1 ? fmt::format("    4    for ko < {} of k {{\n    5      {}       }}\n", summed_tiles, sum)
                             : "    4    " + sum;
    int next = summed_tiles > 1 ? 10 : 9;
    const auto line = [&](const std::string& statement) { text += fmt::format("   {:2}    {}\n", next++, statement); };
    line(fmt::format("compute map RR = bound(BB, TT) over y={}, l=0:{} as vector lane l", wanted, lanes));
    if (padded) {
      line(
          fmt::format("fill RR around [max(0, 1 - {0}*yo):max(0, 1 - {0}*yo) + min({1}, {2} - {0}*yo) - max(0, 1 - "
                      "{0}*yo) <= {1}, 0:{3}] with 0",
                      tile, box, rows() + 1, lanes));
    }
    line("fill YY with -inf");
    line(fmt::format("compute update YY = pool(RR) over y={}, l=0:{}, w=0:3 as vector lane l", y, lanes));
    line(fmt::format("put YY -> Y[{}, 0:{}]", y, lanes));
    line(fmt::format("wait {}", next - 1));
    return text + "     }\n  }\n}\n";
  }
};

}  // namespace stowage::test
