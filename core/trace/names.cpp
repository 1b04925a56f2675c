// SPDX-License-Identifier: Apache-2.0
#include "core/trace/names.h"

#include "core/check.h"
#include "core/trace/planning.h"

namespace stowage {

std::string_view name_of(IteratorClass c) {
  switch (c) {
    case IteratorClass::num: return "num";
    case IteratorClass::size: return "size";
    case IteratorClass::comp: return "comp";
    case IteratorClass::whole: return "whole";
  }
  fail_check("unknown class of an iterator");
}

std::string name_of(const TracedLoop& loop, const GroupNames& names) {
  return names.iterators.at(loop.iterator) + (loop.tiled ? "o" : "");
}

}  // namespace stowage
