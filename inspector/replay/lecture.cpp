// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/lecture.h"

#include <QCoreApplication>
#include <algorithm>

#include "inspector/draw/page_image.h"
#include "inspector/replay/algorithm_text.h"
#include "inspector/replay/replay_picture.h"
#include "inspector/state/files.h"

namespace stowage::inspector {

namespace {

QByteArray picture_of(const Replay& replay, std::size_t step, const Look& look, QSizeF room, QSizeF size,
                      const QString& ending) {
  const Drawing drawing = replay_picture(replay, step, look, room);
  return page_bytes(
      ending, [&](QPainter& painter) { paint(painter, drawing); }, size, look.theme().base, qt(replay.subject));
}

/// The picture as part of a page: without the XML declaration, scaled by the page, in fonts that other systems have.
QString inline_svg(const QByteArray& svg) {
  QString text = QString::fromUtf8(svg);
  text.remove(0, std::max<qsizetype>(0, text.indexOf(QLatin1String("<svg"))));
  const qsizetype end = text.indexOf(QLatin1Char('>'));
  QString head = text.left(end);
  const qsizetype box = head.indexOf(QLatin1String("viewBox"));
  if (box >= 0) head = QStringLiteral("<svg ") + head.mid(box);
  text = head + text.mid(end);
  text.replace(QLatin1String("font-family=\"DejaVu Sans\""),
               QLatin1String("font-family=\"DejaVu Sans, Verdana, sans-serif\""));
  text.replace(QLatin1String("font-family=\"DejaVu Sans Mono\""),
               QLatin1String("font-family=\"DejaVu Sans Mono, Menlo, monospace\""));
  return text;
}

const char* const page_script = R"(
const steps = [...document.querySelectorAll('section')];
const slider = document.getElementById('slider');
let now = 0, timer = null;
function show(to) {
  now = Math.max(0, Math.min(steps.length - 1, to));
  steps.forEach((step, i) => step.hidden = i !== now);
  slider.value = now;
  document.getElementById('where').textContent = (now + 1) + ' / ' + steps.length;
  location.replace('#' + (now + 1));
}
function stop() { clearInterval(timer); timer = null; document.getElementById('play').textContent = 'Play'; }
function play() {
  if (timer) return stop();
  if (now === steps.length - 1) show(0);
  document.getElementById('play').textContent = 'Pause';
  timer = setInterval(() => { show(now + 1); if (now === steps.length - 1) stop(); }, 2500);
}
function decision(way) {
  for (let i = now + way; i >= 0 && i < steps.length; i += way) if (steps[i].dataset.decision) return show(i);
}
document.getElementById('first').onclick = () => show(0);
document.getElementById('back').onclick = () => show(now - 1);
document.getElementById('play').onclick = play;
document.getElementById('next').onclick = () => show(now + 1);
document.getElementById('last').onclick = () => show(steps.length - 1);
document.getElementById('jump').onchange = event => { show(+event.target.value); event.target.selectedIndex = 0; };
slider.oninput = () => show(+slider.value);
addEventListener('keydown', event => {
  if (event.target !== document.body) return;
  const act = { ArrowRight: () => show(now + 1), ArrowLeft: () => show(now - 1), Home: () => show(0),
    End: () => show(steps.length - 1), PageDown: () => decision(1), PageUp: () => decision(-1), ' ': play }[event.key];
  if (act) { event.preventDefault(); act(); }
});
document.body.classList.add('scripted');
show((parseInt(location.hash.slice(1)) || 1) - 1);
)";

}  // namespace

QByteArray lecture_page(const Replay& replay, const Look& look, QSizeF room) {
  const Theme& theme = look.theme();
  const QSizeF size = replay_size(replay, look, room);
  QString sections;
  QString decisions;
  for (std::size_t i = 0; i < replay.steps.size(); ++i) {
    const ReplayStep& step = replay.steps[i];
    const AlgorithmText* algorithm = find_algorithm(step.algorithm);
    const QString chip = algorithm == nullptr ? QString() : qt(algorithm->chip);
    const QString message = qt(step.message).toHtmlEscaped();
    if (step.decision()) {
      decisions += QStringLiteral("<option value=\"%1\">%2: %3</option>\n").arg(i).arg(chip, message);
    }
    sections +=
        QStringLiteral("<section%1 aria-label=\"Step %2\">\n%3\n<p class=\"text\">%4. %5: %6 %7</p>\n</section>\n")
            .arg(step.decision() ? QStringLiteral(" data-decision=\"1\"") : QString())
            .arg(i + 1)
            .arg(inline_svg(picture_of(replay, i, look, room, size, QStringLiteral("svg"))))
            .arg(i + 1)
            .arg(chip.toHtmlEscaped(), message, qt(step.why).toHtmlEscaped());
  }
  const QString style = format(
      "body {{ margin: 0; background: {0}; color: {1}; font: 15px sans-serif; }}"
      " nav {{ position: sticky; top: 0; display: flex; gap: 8px; align-items: center; padding: 8px 12px;"
      " background: {2}; border-bottom: 1px solid {3}; }}"
      " nav button, nav select {{ font: inherit; padding: 3px 10px; }} nav input {{ flex: 1; }}"
      " nav select {{ max-width: 16em; }} body:not(.scripted) nav {{ display: none; }}"
      " section > svg {{ display: block; width: 100%; height: auto; max-height: calc(100vh - 50px); }}"
      " .text {{ padding: 0 12px; }} .scripted .text {{ position: absolute; left: -10000px; }}",
      theme.base.name().toStdString(), theme.text.name().toStdString(), theme.window.name().toStdString(),
      theme.line.name().toStdString());
  const QString title = QStringLiteral("How the plan of %1 came about").arg(qt(replay.subject).toHtmlEscaped());
  const QString page =
      QStringLiteral("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>") + title +
      QStringLiteral("</title>\n<style>") + style + QStringLiteral("</style>\n</head>\n<body>\n<nav>\n<b>") + title +
      QStringLiteral(
          "</b>\n<button id=\"first\">First</button> <button id=\"back\">Back</button>"
          " <button id=\"play\">Play</button> <button id=\"next\">Next</button>"
          " <button id=\"last\">Last</button>\n<input id=\"slider\" type=\"range\" min=\"0\" max=\"") +
      QString::number(std::max<qsizetype>(1, static_cast<qsizetype>(replay.steps.size())) - 1) +
      QStringLiteral(
          "\" value=\"0\" aria-label=\"Step\"> <span id=\"where\"></span>\n"
          "<select id=\"jump\" aria-label=\"Jump to a decision\"><option>Decisions …</option>\n") +
      decisions + QStringLiteral("</select>\n</nav>\n") + sections + QStringLiteral("<script>") +
      QString::fromLatin1(page_script) + QStringLiteral("</script>\n</body>\n</html>\n");
  return page.toUtf8();
}

QString write_step_pictures(const Replay& replay, const Look& look, QSizeF room, const QString& folder) {
  if (QString problem = make_folder(folder); !problem.isEmpty()) return problem;
  const QSizeF size = replay_size(replay, look, room);
  const auto digits = static_cast<int>(std::max<std::size_t>(2, std::to_string(replay.steps.size()).size()));
  const auto path_of = [&](std::size_t step) {
    return folder + QStringLiteral("/step-%1.png").arg(step + 1, digits, 10, QLatin1Char('0'));
  };
  // Nobody was asked about these names, so whatever has one stays.
  for (std::size_t i = 0; i < replay.steps.size(); ++i) {
    if (!is_taken(path_of(i))) continue;
    return QCoreApplication::translate("Lecture", "%1 exists already; choose another folder").arg(path_of(i));
  }
  for (std::size_t i = 0; i < replay.steps.size(); ++i) {
    const QByteArray bytes = picture_of(replay, i, look, room, size, QStringLiteral("png"));
    const QString problem = write_file(path_of(i), bytes, Existing::keep);
    if (!problem.isEmpty()) return problem;
  }
  return {};
}

}  // namespace stowage::inspector
