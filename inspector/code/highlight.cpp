// SPDX-License-Identifier: Apache-2.0
// Colours of code, line by line. Small on purpose: the sources are ours, so their forms are known.
#include <QSet>

#include "inspector/code/code_text.h"

namespace stowage::inspector {

namespace {

bool is_word(QChar c) { return c.isLetterOrNumber() || c == QLatin1Char('_'); }

/// Adds text to the runs, joining neighbours of one colour.
void append(std::vector<CodeRun>& runs, const QString& text, const QColor& color) {
  if (text.isEmpty()) return;
  if (!runs.empty() && runs.back().color == color) {
    runs.back().text += text;
  } else {
    runs.push_back({text, color});
  }
}

/// Words and numbers of one stretch without comments and strings.
qsizetype take_word(const QString& line, qsizetype at, const QSet<QString>& keywords, const Theme& theme,
                    std::vector<CodeRun>& runs) {
  const qsizetype from = at;
  if (line[at].isDigit()) {
    while (at < line.size() && (is_word(line[at]) || line[at] == QLatin1Char('.'))) ++at;
    append(runs, line.mid(from, at - from), theme.number);
  } else if (is_word(line[at])) {
    while (at < line.size() && is_word(line[at])) ++at;
    const QString word = line.mid(from, at - from);
    append(runs, word, keywords.contains(word) ? theme.keyword : theme.text);
  } else {
    append(runs, QString(line[at++]), theme.text);
  }
  return at;
}

QSet<QString> words(const char* list) {
  const QStringList split = QString::fromLatin1(list).split(QLatin1Char(' '));
  return {split.begin(), split.end()};
}

}  // namespace

std::vector<CodeRun> highlight_c(const QString& line, bool& in_comment, const Theme& theme) {
  static const QSet<QString> keywords = words(
      "break case char const continue default do double else enum extern float for goto if inline int int32_t int64_t "
      "long register restrict return short signed sizeof static struct switch typedef uint32_t uint64_t union unsigned "
      "void volatile while floatv4 athread_get athread_put athread_syn athread_get_id dma_wait __thread_local");
  std::vector<CodeRun> runs;
  qsizetype at = 0;
  if (!in_comment && line.trimmed().startsWith(QLatin1Char('#'))) {
    append(runs, line, theme.string);
    return runs;
  }
  while (at < line.size()) {
    if (in_comment) {
      const qsizetype end = line.indexOf(QLatin1String("*/"), at);
      const qsizetype stop = end < 0 ? line.size() : end + 2;
      append(runs, line.mid(at, stop - at), theme.comment);
      in_comment = end < 0;
      at = stop;
    } else if (line.mid(at, 2) == QLatin1String("/*")) {
      in_comment = true;
      append(runs, line.mid(at, 2), theme.comment);
      at += 2;
    } else if (line.mid(at, 2) == QLatin1String("//")) {
      append(runs, line.mid(at), theme.comment);
      break;
    } else if (line[at] == QLatin1Char('"')) {
      qsizetype end = at + 1;
      while (end < line.size() && line[end] != QLatin1Char('"')) end += line[end] == QLatin1Char('\\') ? 2 : 1;
      append(runs, line.mid(at, end + 1 - at), theme.string);
      at = std::min(end + 1, line.size());
    } else {
      at = take_word(line, at, keywords, theme, runs);
    }
  }
  return runs;
}

std::vector<CodeRun> highlight_nest(const QString& line, const Theme& theme) {
  static const QSet<QString> keywords = words(
      "barrier block buffer compute constant core finish fill for get guard if input intermediate lane let map nest of "
      "output over put sharing slots stage tensor update vector scalar register_block wait with any in as");
  std::vector<CodeRun> runs;
  const qsizetype note = line.indexOf(QLatin1String("//"));
  const qsizetype end = note < 0 ? line.size() : note;
  for (qsizetype at = 0; at < end;) at = take_word(line, at, keywords, theme, runs);
  if (note >= 0) append(runs, line.mid(note), theme.comment);
  return runs;
}

}  // namespace stowage::inspector
