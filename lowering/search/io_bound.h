// SPDX-License-Identifier: Apache-2.0
// How few elements a sum of products has to load, however it is planned, as the LDMs hold only so many: the I/O lower
// bound of Hong and Kung ("I/O complexity: the red-blue pebble game", 1981) with the constant of Smith, Lowery, Langou
// and van de Geijn (arXiv:1702.02017), for matrix products and convolutions.
//
// Take any order of the G products of C[c] = sum A[a] * B[b], and cut it into pieces in each of which 2 S elements are
// loaded but for the last, where S is what fast memory holds. What a piece uses of A, B and C was there before or is
// loaded in it: no more than 3 S elements. Let each axis occur in two of the indices a, b and c. Then x elements of A,
// y of B and z of C have no more than sqrt(R x y z) products between them (Loomis and Whitney), where R is how often an
// element of A is read with different axes, as neighbouring windows of a convolution read the same ones, times the same
// of B. With x + y + z = 3 S these are at most sqrt(R S) S. So there are G / (sqrt(R S) S) pieces at least, of which
// the last may be shorter, and
//
//     loads >= 2 G / sqrt(R S) - 2 S.
//
// Here the elements of C that are begun were loaded too. Where a sum begins with nothing they are not, which saves |C|
// at most: of a result that is computed more than once the first time counts, with its products, and of one that
// several cores begin the first of them, as what the others add is another result. Memories that know nothing of each
// other have these pieces each for itself, which takes off 2 S for every one of them.
#pragma once

#include "core/stage.h"
#include "core/target.h"

namespace stowage {

/// Elements of both operands, and of sums that were stored before they were complete, that are loaded at least, by all
/// cores. 0 of what is no sum of products of two tensors in main memory, and of what this says nothing about.
///
/// Where cores can load together, or send each other what they have, their LDMs and vector registers are one memory;
/// else each computes its share with its own.
double least_operand_loads(const StageList& stages, const Stage& stage, const Target& target);

}  // namespace stowage
