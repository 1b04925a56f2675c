// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "lowering/check/check_nest.h"

namespace stowage {

std::string_view name_of(FaultFamily family) {
  switch (family) {
    case FaultFamily::capacity: return "capacity";
    case FaultFamily::bounds: return "bounds";
    case FaultFamily::race: return "race";
    case FaultFamily::wait: return "wait";
    case FaultFamily::uninitialised: return "uninitialised";
    case FaultFamily::overlap: return "overlap";
    case FaultFamily::sum: return "sum";
    case FaultFamily::message: return "message";
    case FaultFamily::incomplete: return "incomplete";
  }
  return "";
}

std::string_view remedy_of(FaultFamily family) {
  switch (family) {
    case FaultFamily::capacity:
      return "make buffers smaller, or the grid of cores, or give the --target that the nest was made for";
    case FaultFamily::bounds: return "clip the box to what is there, or make the buffer larger";
    case FaultFamily::race: return "wait for the transfer before, or use another slot";
    case FaultFamily::wait: return "a transfer and its wait belong to the same iterations";
    case FaultFamily::uninitialised: return "load or compute what is read before, into the slot that is read";
    case FaultFamily::overlap: return "give each core a part of its own";
    case FaultFamily::sum: return "begin each sum once, and let its loops and boxes take every term once";
    case FaultFamily::message:
      return "let all cores of the team come to the same transfers and barriers in the same order";
    case FaultFamily::incomplete: return "let loops, parts and puts cover the whole tensor";
  }
  return "";
}

std::string text_of(const Execution& execution) {
  std::string text = fmt::format("statement {} on core {}", execution.statement.index(), execution.core);
  for (const auto& [variable, value] : execution.iteration) text += fmt::format(", {} = {}", variable, value);
  return text;
}

}  // namespace stowage
