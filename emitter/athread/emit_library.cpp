// SPDX-License-Identifier: Apache-2.0
#include "emitter/athread/emit_library.h"

#include <fmt/format.h>

namespace stowage {

void write_library_header(CWriter& out, const Library& library) {
  out.line("#ifdef SW_EMULATION /* computes plainly */");
  out.line("#include \"swemu_library.h\"");
  out.line(fmt::format("#define {} swemu_sgemm", library.sgemm));
  out.line("#else");
  out.line(fmt::format("#include \"{}\"", library.header));
  out.line("#endif");
}

void write_library_layer(CWriter& out, const ManagedLayer& layer, const LibraryPlan& plan) {
  const MatrixProduct& product = plan.product();
  const auto order = [](const MatrixProduct::Operand& of) { return of.transposed ? "CblasTrans" : "CblasNoTrans"; };
  const auto matrix = [&](const MatrixProduct::Operand& of) {
    return fmt::format("{}, {}", layer.tensors[of.tensor], of.row);
  };
  out.comment(plan.reason());
  out.open(prototype_of(layer, plan) + " {");
  out.line(fmt::format("{}(CblasRowMajor, {}, {},", plan.library().sgemm, order(product.a), order(product.b)));
  out.line(fmt::format("    {}, {}, {}, 1.0f, {}, {}, 0.0f, {});", product.m, product.n, product.k, matrix(product.a),
                       matrix(product.b), matrix(product.c)));
  out.line(fmt::format("LAYER_DONE({});", layer.function));
  out.close();
}

}  // namespace stowage
