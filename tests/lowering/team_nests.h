// SPDX-License-Identifier: Apache-2.0
// Matrix products on a mesh of 2 x 2 cores whose operands go to rows and columns of cores, and what is asked of them.
#pragma once

#include <map>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "core/check.h"
#include "lowering/interpret/interpret.h"
#include "lowering/verify/verify.h"
#include "parsed_nest.h"

namespace stowage::team_nests {

/// The text with the first such part written otherwise; else the test ends.
inline std::string replaced(std::string text, const std::string& part, const std::string& by) {
  INFO(part);
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

inline Target machine(int rows = 2, int columns = 2) {
  Target target;
  target.name = "machine";
  target.cores.mesh_rows = rows;
  target.cores.mesh_columns = columns;
  target.cores.count = rows * columns;
  return target;
}

inline std::string verdict(const LoopNest& nest, const Target& target = machine()) {
  return verify(nest, target).value_or("sound");
}
inline std::string verdict(const std::string& text, const Target& target = machine()) {
  return verdict(parsed(text), target);
}

/// C[4,16] = A[4,16] * B[16,16]; core (cx, cy) has 2 rows and 8 columns of C.
inline std::string product(const std::string& variables, const std::string& buffers, const std::string& body) {
  return "nest matmul {\n"
         "  input A f32[4,16]\n  input B f32[16,16]\n  output C f32[4,16]\n"
         "  stage matmul {\n"
         "    C[x < 4, y < 16] = sum over k < 16 of (#0 * #1)\n    #0 = A[x, k]\n    #1 = B[k, y]\n"
         "  }\n"
         "  variables cx, cy, " +
         variables +
         "\n  core cx < 2 of x stride 2\n  core cy < 2 of y stride 1\n  mesh 2 rows 2 columns\n"
         "  memory A = A strides [16, 1]\n  memory B = B strides [16, 1]\n  memory C = C strides [16, 1] written\n"
         "  ldm 1024 bytes\n" +
         buffers + "  buffer CC f32[2,8] at 960, 64 bytes = C[2*cx, 8*cy]\n  body {\n" + body + "  }\n}\n";
}

/// Each tile of A is the same along a row, each of B along a column: both leave main memory once for all of these.
inline std::string with_shared_gets() {
  return product("ko",
                 "  buffer AA f32[2,8] at 0, 64 bytes = A[2*cx, 8*ko]\n"
                 "  buffer BB f32[8,8] at 64, 256 bytes = B[8*ko, 8*cy]\n",
                 R"(
    0  fill CC with 0
   10  for ko < 2 of k {
   20    get A[2*cx:2*cx + 2, 8*ko:8*ko + 8] -> AA of row
   30    get B[8*ko:8*ko + 8, 8*cy:8*cy + 8] -> BB of column
   40    wait 20
   50    wait 30
   60    compute update CC = matmul(AA, BB) over x=2*cx:2*cx + 2, y=8*cy:8*cy + 8, k=8*ko:8*ko + 8
       }
   70  put CC -> C[2*cx:2*cx + 2, 8*cy:8*cy + 8]
   80  wait 70
)");
}

inline const char* const own_parts =
    "  buffer AA f32[2,8] at 0, 64 bytes = A[2*cx, 8*cy]\n"
    "  buffer BB f32[8,8] at 64, 256 bytes = B[8*cx, 8*cy]\n";

/// Each core loads a part of its own; in step s column s sends its A along the rows, row s its B along the columns.
inline std::string with_broadcasts() {
  return product("s",
                 std::string(own_parts) +
                     "  buffer AR f32[2,8] at 320, 64 bytes = A[2*cx, 8*s]\n"
                     "  buffer BR f32[8,8] at 384, 256 bytes = B[8*s, 8*cy]\n",
                 R"(
    0  get A[2*cx:2*cx + 2, 8*cy:8*cy + 8] -> AA
   10  get B[8*cx:8*cx + 8, 8*cy:8*cy + 8] -> BB
   20  fill CC with 0
   30  wait 0
   40  wait 10
   50  for s < 2 of k {
   60    broadcast AA of column s -> AR of row over [2*cx:2*cx + 2, 8*s:8*s + 8]
   70    broadcast BB of row s -> BR of column over [8*s:8*s + 8, 8*cy:8*cy + 8]
   80    wait 60
   90    wait 70
  100    compute update CC = matmul(AR, BR) over x=2*cx:2*cx + 2, y=8*cy:8*cy + 8, k=8*s:8*s + 8
       }
  110  put CC -> C[2*cx:2*cx + 2, 8*cy:8*cy + 8]
  120  wait 110
)");
}

/// The same, the next step's parts under way while this one's are computed with.
inline std::string with_broadcasts_ahead() {
  return product("s",
                 std::string(own_parts) +
                     "  buffer AR f32[2,8] at 320, 128 bytes = A[2*cx, 8*s] slots 2\n"
                     "  buffer BR f32[8,8] at 448, 512 bytes = B[8*s, 8*cy] slots 2\n",
                 R"(
    0  get A[2*cx:2*cx + 2, 8*cy:8*cy + 8] -> AA
   10  get B[8*cx:8*cx + 8, 8*cy:8*cy + 8] -> BB
   20  fill CC with 0
   30  wait AA
   40  wait BB
   50  broadcast AA of column 0 -> AR from [2*cx, 0] of row over [2*cx:2*cx + 2, 0:8]
   60  broadcast BB of row 0 -> BR from [0, 8*cy] of column over [0:8, 8*cy:8*cy + 8]
   70  for s < 2 of k {
   80    if any(1 - s) > 0 {
   90      broadcast AA of column s + 1 -> AR[(s + 1) % 2] from [2*cx, 8*s + 8] of row over [2*cx:2*cx + 2, 8*s + 8:8*s + 16]
  100      broadcast BB of row s + 1 -> BR[(s + 1) % 2] from [8*s + 8, 8*cy] of column over [8*s + 8:8*s + 16, 8*cy:8*cy + 8]
         }
  110    wait AR[s % 2]
  120    wait BR[s % 2]
  130    compute update CC = matmul(AR[s % 2], BR[s % 2]) over x=2*cx:2*cx + 2, y=8*cy:8*cy + 8, k=8*s:8*s + 8
       }
  140  put CC -> C[2*cx:2*cx + 2, 8*cy:8*cy + 8]
  150  wait 140
)");
}

/// Small whole numbers, so that sums are exact in whatever order.
inline Tensor whole_numbers(std::mt19937& random, const Shape& shape) {
  std::uniform_int_distribution<int> draw(-8, 8);
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& value : values) value = static_cast<float>(draw(random));
  return Tensor::of_floats(shape, values);
}

/// Elements of C that are not the product's of tensors 0 and 1. A fault that the interpreter finds is thrown.
inline int wrong_elements_of(const LoopNest& nest) {
  std::mt19937 random(3);
  const Shape& of_a = nest.stages.tensors[StageTensorId(0)].shape;
  const Shape& of_b = nest.stages.tensors[StageTensorId(1)].shape;
  std::map<StageTensorId, Tensor> given;
  given.emplace(StageTensorId(0), whole_numbers(random, of_a));
  given.emplace(StageTensorId(1), whole_numbers(random, of_b));
  const Tensor c = interpret(nest, given).at(StageTensorId(2));
  int wrong = 0;
  for (std::int64_t x = 0; x < of_a[0]; ++x) {
    for (std::int64_t y = 0; y < of_b[1]; ++y) {
      double sum = 0;
      for (std::int64_t k = 0; k < of_b[0]; ++k) {
        sum += given.at(StageTensorId(0)).as_double(x * of_b[0] + k) *
               given.at(StageTensorId(1)).as_double(k * of_b[1] + y);
      }
      wrong += c.as_double(x * of_b[1] + y) == sum ? 0 : 1;
    }
  }
  return wrong;
}

/// The same; one where the interpreter finds a fault.
inline int wrong_elements(const LoopNest& nest) try { return wrong_elements_of(nest); } catch (const InternalError&) {
  return 1;
}

}  // namespace stowage::team_nests
