// SPDX-License-Identifier: Apache-2.0
#include "inspector/window/help.h"

#include <QDialogButtonBox>
#include <QVBoxLayout>
#include <utility>

#include "inspector/panes/pane.h"

namespace stowage::inspector {

namespace {

using Rows = std::vector<std::pair<const char*, const char*>>;

const Rows& keys() {
  static const Rows rows = {
      {"F1", "this page, at the pane that has the keyboard"},
      {"Ctrl+1 … Ctrl+9, Ctrl+0, Alt+1 … Alt+3", "a pane, in the order of the View menu"},
      {"Alt+Left, Alt+Right, Alt+Up", "back, forward, to what is around what is chosen"},
      {"Ctrl+O, Ctrl+Shift+O", "open a model, batch file or nest, a compiled folder or exercises"},
      {"Ctrl+E", "export the pane that has the keyboard"},
      {"Ctrl+F", "search in the pane that has the keyboard: graph, fusion, compare, tables"},
      {"Ctrl+Shift+D, Ctrl+Shift+U, Ctrl+Shift+B", "dark theme, times in seconds, sizes to the byte"},
      {"Ctrl++, Ctrl+-", "text size"},
      {"graph: arrows, Enter", "the next node in that direction; open or close a group"},
      {"graph: Shift+arrows, Page Up, Page Down", "pan"},
      {"graph: +, -, F, 1", "zoom, the whole graph, 100 %"},
      {"graph's search: Enter, Shift+Enter", "next, previous match"},
      {"replay: Left, Right, Page Up, Page Down, Home, End, Space", "a step, a decision, the ends, play"},
      {"whatif: Ctrl+Z, Ctrl+Shift+Z", "undo, redo"},
      {"whatif: Ctrl+Up, Ctrl+Down", "move a loop or a transfer past the loop above or below"},
      {"whatif: Enter on a way to group", "apply it"},
      {"tables: Ctrl+C, Ctrl+Shift+C", "copy the chosen rows for a spreadsheet, as Markdown; all where none is chosen"},
  };
  return rows;
}

const Rows& terms() {
  static const Rows rows = {
      {"LDM",
       "local device memory: the scratchpad of one compute core, 64 KiB on SW26010. No cache: what is in it, "
       "software put there"},
      {"DMA", "direct memory access: a transfer between main memory and LDM. A get fills, a put empties"},
      {"transfer", "one filling or emptying of a buffer: what the papers count"},
      {"operation", "one DMA call of Athread; a box of several rows may take several"},
      {"block", "contiguous bytes that an operation moves at once; small blocks are slow"},
      {"group, fused operator", "operators that one kernel computes; what is between them stays in LDM"},
      {"template", "the pattern that allows a group"},
      {"view", "an operator that only re-indexes: nothing is launched"},
      {"iterator", "a dimension of a group's output, or of a reduction"},
      {"buffer size", "elements of an iterator that are in LDM at once; the outer loop walks over them"},
      {"outer loop", "called like its iterator where one element is buffered (x), else with an o behind (xo)"},
      {"cycles",
       "predicted by the time model: its terms and their sources are in the cost pane. All numbers are sums "
       "over all cores unless they say otherwise"},
      {"baseline", "the plan that the shown one is compared with"},
  };
  return rows;
}

QString table_of(const Rows& rows) {
  QString html = QStringLiteral("<table cellpadding=\"4\">");
  for (const auto& [what, text] : rows) {
    html += QStringLiteral("<tr><td><b>%1</b></td><td>%2</td></tr>")
                .arg(QString::fromUtf8(what).toHtmlEscaped(), QString::fromUtf8(text).toHtmlEscaped());
  }
  return html + QStringLiteral("</table>");
}

}  // namespace

QString help_html(const Look& look) {
  QString html = QStringLiteral("<html><body style=\"color:%1\">").arg(look.theme().text.name());
  html += HelpWindow::tr(
      "<h1>Stowage inspector</h1><p>It shows the plan by which a network's tensors are moved "
      "through the scratchpads of a processor's cores: what is fused, what lies where, when it "
      "moves, what it costs, and why. Choose something in one pane and all others follow.</p>"
      "<p><a href=\"#panes\">Panes</a> · <a href=\"#keys\">Keys</a> · "
      "<a href=\"#terms\">Terms</a></p><h2><a name=\"panes\">Panes</a></h2>");
  for (const PaneRow& row : pane_table()) {
    html += QStringLiteral("<p><a name=\"%1\"></a><b>%2</b> (%1): %3</p>")
                .arg(qt(row.name), qt(row.title).toHtmlEscaped(), qt(row.summary).toHtmlEscaped());
  }
  html += HelpWindow::tr("<h2><a name=\"keys\">Keys</a></h2>") + table_of(keys());
  html += HelpWindow::tr("<h2><a name=\"terms\">Terms</a></h2>") + table_of(terms());
  return html + QStringLiteral("</body></html>");
}

HelpWindow::HelpWindow(const Look& look, QWidget* parent)
    : QDialog(parent), look_(look), page_(new QTextBrowser(this)) {
  setWindowTitle(tr("Stowage inspector: help"));
  resize(760, 640);
  page_->setOpenLinks(true);
  page_->setAccessibleName(tr("Help page"));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(page_, 1);
  layout->addWidget(buttons);
  connect(&look, &Look::changed, this, [this] { page_->setHtml(help_html(look_)); });
}

void HelpWindow::showAt(const QString& anchor) {
  page_->setHtml(help_html(look_));
  show();
  activateWindow();
  page_->setFocus();
  if (!anchor.isEmpty()) page_->scrollToAnchor(anchor);
}

}  // namespace stowage::inspector
