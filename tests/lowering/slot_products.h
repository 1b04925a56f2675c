// SPDX-License-Identifier: Apache-2.0
// Matrix products whose tiles are loaded ahead, in several ways.
#pragma once

#include <map>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "core/check.h"
#include "lowering/interpret/interpret.h"
#include "lowering/verify/verify.h"
#include "parsed_nest.h"

namespace stowage::fixtures {

/// C[1,32] = A[1,64] * B[64,32] in tiles of 16; the body decides when which tile of B is loaded.
inline std::string matmul(const std::string& body, const std::string& variables = "yo, ko", int slots_of_c = 1) {
  const std::string c = slots_of_c == 1 ? "  buffer CC f32[1,16] at 2304, 64 bytes = C[0, 16*yo]\n"
                                        : "  buffer CC f32[1,16] at 2304, 128 bytes = C[0, 16*yo] slots 2\n";
  return "nest matmul {\n"
         "  input A f32[1,64]\n  input B f32[64,32]\n  output C f32[1,32]\n"
         "  stage matmul {\n"
         "    C[x < 1, y < 32] = sum over k < 64 of (#0 * #1)\n    #0 = A[x, k]\n    #1 = B[k, y]\n"
         "  }\n"
         "  variables " +
         variables +
         "\n  memory A = A strides [64, 1]\n  memory B = B strides [32, 1]\n  memory C = C strides [32, 1] written\n"
         "  ldm 2432 bytes\n"
         "  buffer AA f32[1,64] at 0, 256 bytes = A[0, 0]\n"
         "  buffer BB f32[16,16] at 256, 2048 bytes = B[16*ko, 16*yo] slots 2\n" +
         c + "  body {\n" + body + "  }\n}\n";
}

/// The tile of the next trip is loaded while this one's is computed with; a guard leaves out what is behind the last.
inline const std::string double_buffered = matmul(R"(
    0  get A[0:1, 0:64] -> AA
    1  wait 0
    2  for yo < 2 of y {
    3    fill CC with 0
    4    get B[0:16, 16*yo:16*yo + 16] -> BB from [0, 16*yo]
    5    for ko < 4 of k {
    6      if any(-ko + 3) > 0 {
    7        get B[16*ko + 16:16*ko + 32, 16*yo:16*yo + 16] -> BB[(ko + 1) % 2] from [16*ko + 16, 16*yo]
           }
    8      wait BB[ko % 2]
    9      compute update CC = matmul(AA, BB[ko % 2]) over x=0:1, y=16*yo:16*yo + 16, k=16*ko:16*ko + 16
         }
   10    put CC -> C[0:1, 16*yo:16*yo + 16]
   11    wait 10
       }
)");

/// The same with the last trip written out behind the loop.
inline const std::string peeled = matmul(R"(
    0  get A[0:1, 0:64] -> AA
    1  wait 0
    2  for yo < 2 of y {
    3    fill CC with 0
    4    get B[0:16, 16*yo:16*yo + 16] -> BB from [0, 16*yo]
    5    for ko < 3 of k {
    6      get B[16*ko + 16:16*ko + 32, 16*yo:16*yo + 16] -> BB[(ko + 1) % 2] from [16*ko + 16, 16*yo]
    7      wait BB[ko % 2]
    8      compute update CC = matmul(AA, BB[ko % 2]) over x=0:1, y=16*yo:16*yo + 16, k=16*ko:16*ko + 16
         }
    9    wait BB[1]
   10    compute update CC = matmul(AA, BB[1] from [48, 16*yo]) over x=0:1, y=16*yo:16*yo + 16, k=48:64
   11    put CC -> C[0:1, 16*yo:16*yo + 16]
   12    wait 11
       }
)");

/// Tiles are loaded ahead over the end of the inner loop too, and results stored while the next ones are computed.
inline const std::string across = matmul(R"(
    0  get A[0:1, 0:64] -> AA
    1  get B[0:16, 0:16] -> BB from [0, 0]
    2  wait 0
    3  for yo < 2 of y {
    4    fill CC[yo % 2] with 0
    5    for ko < 4 of k {
    6      let n = 4*yo + ko + 1
    7      if any(-n + 8) > 0 {
    8        get B[16*(n % 4):16*(n % 4) + 16, 16*(n / 4):16*(n / 4) + 16] -> BB[n % 2] from [16*(n % 4), 16*(n / 4)]
           }
    9      wait BB[(n + 1) % 2]
   10      compute update CC[yo % 2] = matmul(AA, BB[(n + 1) % 2]) over x=0:1, y=16*yo:16*yo + 16, k=16*ko:16*ko + 16
         }
   11    put CC[yo % 2] -> C[0:1, 16*yo:16*yo + 16]
       }
   12  wait CC
   13  wait CC[1]
)",
                                         "yo, ko, n", 2);

/// One slot: the next tile is loaded behind the computation, over the end of the trip.
inline const std::string single_slot = matmul(R"(
    0  get A[0:1, 0:64] -> AA
    1  wait 0
    2  for yo < 2 of y {
    3    fill CC with 0
    4    get B[0:16, 16*yo:16*yo + 16] -> BB from [0, 16*yo]
    5    for ko < 4 of k {
    6      wait BB
    7      compute update CC = matmul(AA, BB) over x=0:1, y=16*yo:16*yo + 16, k=16*ko:16*ko + 16
    8      if any(-ko + 3) > 0 {
    9        get B[16*ko + 16:16*ko + 32, 16*yo:16*yo + 16] -> BB from [16*ko + 16, 16*yo]
           }
         }
   10    put CC -> C[0:1, 16*yo:16*yo + 16]
   11    wait 10
       }
)");

inline std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

inline std::string verdict(const LoopNest& nest) {
  Target target;
  target.name = "machine";
  return verify(nest, target).value_or("sound");
}
inline std::string verdict(const std::string& text) { return verdict(parsed(text)); }

/// Small whole numbers, so that sums are exact in whatever order.
inline Tensor whole_numbers(std::mt19937& random, const Shape& shape) {
  std::uniform_int_distribution<int> draw(-8, 8);
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& value : values) value = static_cast<float>(draw(random));
  return Tensor::of_floats(shape, values);
}

inline std::map<StageTensorId, Tensor> operands() {
  std::mt19937 random(3);
  std::map<StageTensorId, Tensor> tensors;
  tensors.emplace(StageTensorId(0), whole_numbers(random, {1, 64}));
  tensors.emplace(StageTensorId(1), whole_numbers(random, {64, 32}));
  return tensors;
}

/// Elements of C that are not the product's; one if the interpreter finds a fault of its own.
inline int wrong_elements(const LoopNest& nest) try {
  const auto given = operands();
  const Tensor c = interpret(nest, given).at(StageTensorId(2));
  int wrong = 0;
  for (std::int64_t y = 0; y < 32; ++y) {
    double sum = 0;
    for (std::int64_t k = 0; k < 64; ++k)
      sum += given.at(StageTensorId(0)).as_double(k) * given.at(StageTensorId(1)).as_double(k * 32 + y);
    wrong += c.as_double(y) == sum ? 0 : 1;
  }
  return wrong;
} catch (const InternalError&) {
  return 1;
}

}  // namespace stowage::fixtures
