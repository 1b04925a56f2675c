// SPDX-License-Identifier: Apache-2.0
#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>

#include "inspector/code/code_view.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

TEST_CASE("the nest shows every DMA at its place with its counts", "[inspector]") {
  Look look;
  const CodeText code = nest_code(*sample_plan("matmul"), StepId(0), false, look);
  std::string text;
  for (const CodeLine& line : code.lines) {
    std::string gutter;
    for (std::size_t i = 1; i < 4; ++i) gutter += "|" + line.gutter[i].toStdString();
    text += line.badge.toStdString() + gutter + "|" + line.text().toStdString() + "\n";
  }
  CHECK(text ==
        "||||for x < 1 of x {\n"
        "||||  for yo < 8 of y {\n"
        "||||    let y_at = 128*yo\n"
        "||||    fill C_ldm with 0 in registers  // initialisation of C\n"
        "||||    for ko < 16 of k {\n"
        "||||      let k_at = 64*ko\n"
        "get|128|32.00 KiB|256 B|      get A[x:x + 1, k_at:k_at + 64] -> A_ldm  // A inside ko\n"
        "get|128|4.00 MiB|512 B|      get B[k_at:k_at + 64, y_at:y_at + 128] -> B_ldm  // B inside ko\n"
        "wait||||      wait 6\n"
        "wait||||      wait 7\n"
        "||||      compute update C_ldm = matmul(A_ldm, B_ldm) over x=x:x + 1, y=y_at:y_at + 128, k=k_at:k_at + 64 "
        "as register_block lane y\n"
        "||||    }\n"
        "put|8|4.00 KiB|512 B|    put C_ldm -> C[x:x + 1, y_at:y_at + 128]  // C inside yo\n"
        "wait||||    wait 11\n"
        "||||  }\n"
        "||||}\n");
  CHECK(code.lines[6].gutter[4].endsWith(QStringLiteral("MB/s")));  // small blocks are slow
  CHECK(code.lines[7].gutter[4].endsWith(QStringLiteral("GB/s")));
  CHECK(code.lines[10].own > 0);
  CHECK(code.lines[0].inclusive > code.lines[10].own);
}

TEST_CASE("declarations come before the statements where they are asked for", "[inspector]") {
  Look look;
  const CodeText code = nest_code(*sample_plan("matmul"), StepId(0), true, look);
  CHECK(code.lines.front().text() == QStringLiteral("nest matmul {"));
  CHECK(code.lines.back().text() == QStringLiteral("}"));
}

TEST_CASE("lines of the emitted C belong to the statements of the nest", "[inspector]") {
  for (const char* name : {"matmul", "lenet"}) {
    const PlanPtr plan = sample_plan(name);
    for (const StepId i : plan->steps.ids()) {
      if (plan->steps[i].plan == nullptr) continue;
      const CodeText code = emitted_code(*plan, i, make_theme(false));
      for (const StatementFacts& facts : plan->steps[i].statements) {
        if (facts.statement == nullptr || !std::holds_alternative<Dma>(facts.statement->node)) continue;
        const bool found = std::any_of(code.lines.begin(), code.lines.end(), [&](const CodeLine& line) {
          return line.subject && line.subject->statement == facts.statement->id;
        });
        INFO(name << " step " << i.index() << " statement " << facts.statement->id.index());
        CHECK(found);
      }
    }
  }
}

TEST_CASE("every C line of a statement is the statement's", "[inspector]") {
  const PlanPtr plan = sample_plan("matmul");
  std::string text;
  std::optional<StatementId> before;
  for (const CodeLine& line : emitted_code(*plan, StepId(0), make_theme(false)).lines) {
    const std::optional<StatementId> statement = line.subject ? line.subject->statement : std::nullopt;
    if (statement && statement != before) text += std::to_string(statement->index()) + "\n";
    before = statement;
    const bool computes =
        statement && std::holds_alternative<Compute>(plan->steps[StepId(0)].find(statement)->statement->node);
    if (statement && !computes) text += line.text().toStdString() + "\n";
  }
  CHECK(text ==
        "0\n"
        "  for (int x = 0; x < 1; x++) {\n"
        "1\n"
        "    for (int yo = 0; yo < 8; yo++) {\n"
        "2\n"
        "      const int y_at = 128 * yo;\n"
        "3\n"
        "      /* initialisation of C: in the registers of the sum */\n"
        "4\n"
        "      for (int ko = 0; ko < 16; ko++) {\n"
        "5\n"
        "        const int k_at = 64 * ko;\n"
        "6\n"
        "        /* get A[x .. +1][k_at .. +64]: A inside ko */\n"
        "        ldm->reply_A = 0;\n"
        "        athread_get(PE_MODE, t_A + 1024 * x + k_at, ldm->t_A_ldm, 256, (void *)&ldm->reply_A, 0, 0, 0);\n"
        "7\n"
        "        /* get B[k_at .. +64][y_at .. +128]: B inside ko */\n"
        "        ldm->reply_B = 0;\n"
        "        athread_get(PE_MODE, t_B + y_at + 1024 * k_at, ldm->t_B_ldm, 32768, (void *)&ldm->reply_B, 0, 3584, "
        "512);\n"
        "8\n"
        "        dma_wait(&ldm->reply_A, 1);\n"
        "9\n"
        "        dma_wait(&ldm->reply_B, 1);\n"
        "10\n"
        "4\n"
        "      }\n"
        "11\n"
        "      /* put C[x .. +1][y_at .. +128]: C inside yo */\n"
        "      ldm->reply_C = 0;\n"
        "      athread_put(PE_MODE, ldm->t_C_ldm, t_C + 1024 * x + y_at, 512, (void *)&ldm->reply_C, 0, 0);\n"
        "12\n"
        "      dma_wait(&ldm->reply_C, 1);\n"
        "1\n"
        "    }\n"
        "0\n"
        "  }\n");
}

TEST_CASE("highlighting keeps every character", "[inspector]") {
  const Theme theme = make_theme(false);
  const PlanPtr plan = sample_plan("lenet");
  for (const EmittedFile& file : plan->compilation.emitted.files) {
    bool in_comment = false;
    for (const QString& line : qt(file.text).split(QLatin1Char('\n'))) {
      QString together;
      for (const CodeRun& run : highlight_c(line, in_comment, theme)) together += run.text;
      CHECK(together == line);
    }
    CHECK_FALSE(in_comment);
  }
  bool in_comment = false;
  const auto runs = highlight_c(QStringLiteral("for (int i = 0; /* a */ i < 10;"), in_comment, theme);
  CHECK(runs.front().text == QStringLiteral("for"));
  CHECK(runs.front().color == theme.keyword);
  // A string that is never closed ends with its line.
  for (const QString& odd : {QStringLiteral("\"abc"), QStringLiteral("\"abc\\")}) {
    QString together;
    for (const CodeRun& run : highlight_c(odd, in_comment, theme)) together += run.text;
    CHECK(together == odd);
  }
}

TEST_CASE("a code view is driven by mouse and keyboard", "[inspector]") {
  Look look;
  CodeView view(look);
  view.resize(900, 500);
  view.setCode(nest_code(*sample_plan("matmul"), StepId(0), false, look));
  view.show();
  QSignalSpy chosen(&view, &CodeView::chosen);
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.pointOf(6));
  REQUIRE(chosen.count() == 1);
  CHECK(chosen[0][0].value<Subject>() == statement_subject(StepId(0), StatementId(6)));
  view.setLit(statement_subject(StepId(0), StatementId(6)), {});
  QTest::keyClick(&view, Qt::Key_Down);
  REQUIRE(chosen.count() == 2);
  CHECK(chosen[1][0].value<Subject>() == statement_subject(StepId(0), StatementId(7)));
  view.setLit(statement_subject(StepId(0), StatementId(11)), {});
  QTest::keyClick(&view, Qt::Key_Up);  // over the closing brace
  REQUIRE(chosen.count() == 3);
  CHECK(chosen[2][0].value<Subject>() == statement_subject(StepId(0), StatementId(10)));
  // A buffer lights up every line that touches it.
  int lit = 0;
  for (const CodeLine& line : view.code().lines) lit += is_lit(line, buffer_subject(StepId(0), BufferId(0))) ? 1 : 0;
  CHECK(lit == 3);  // get, wait, compute
}

}  // namespace
}  // namespace stowage::test
