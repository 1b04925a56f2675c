// SPDX-License-Identifier: Apache-2.0
#include "inspector/look/look.h"

#include <QApplication>
#include <QFontDatabase>
#include <QFontMetricsF>
#include <algorithm>
#include <array>
#include <cmath>

/// The resources of a static library come with it only if they are asked for, outside of any namespace.
static void use_resources() { Q_INIT_RESOURCE(inspector); }

namespace stowage::inspector {

namespace {

QColor mix(const QColor& a, const QColor& b, double share) {
  const auto part = [&](int from, int to) { return static_cast<int>(from + share * (to - from) + 0.5); };
  return {part(a.red(), b.red()), part(a.green(), b.green()), part(a.blue(), b.blue())};
}

/// Blue, orange, green, vermilion, purple, sky, yellow, grey.
constexpr std::array<QRgb, 8> okabe_ito = {0xff0072b2, 0xffe69f00, 0xff009e73, 0xffd55e00,
                                           0xffcc79a7, 0xff56b4e9, 0xfff0e442, 0xff999999};

}  // namespace

Theme make_theme(bool dark) {
  Theme theme;
  theme.dark = dark;
  if (dark) {
    theme.window = QColor(0x22262b);
    theme.base = QColor(0x1a1d21);
    theme.raised = QColor(0x2c3138);
    theme.text = QColor(0xe4e7eb);
    theme.muted = QColor(0x9aa4b0);
    theme.line = QColor(0x434b55);
    theme.accent = QColor(0x56b4e9);
    theme.accent_text = QColor(0x10161c);
    theme.hover = QColor(0x303a45);
    theme.error = QColor(0xff8a70);
    theme.warning = QColor(0xf0b43c);
    theme.keyword = QColor(0x7cc4f0);
    theme.number = QColor(0xe8b45c);
    theme.comment = QColor(0x8d98a5);
    theme.string = QColor(0x7fd0a8);
  } else {
    theme.window = QColor(0xf1f3f5);
    theme.base = QColor(0xffffff);
    theme.raised = QColor(0xf7f8fa);
    theme.text = QColor(0x1c2329);
    theme.muted = QColor(0x5f6b77);
    theme.line = QColor(0xc9d0d8);
    theme.accent = QColor(0x0072b2);
    theme.accent_text = QColor(0xffffff);
    theme.hover = QColor(0xe3eef6);
    theme.error = QColor(0xb03a10);
    theme.warning = QColor(0x8a5a00);
    theme.keyword = QColor(0x00558a);
    theme.number = QColor(0x8a5200);
    theme.comment = QColor(0x66727e);
    theme.string = QColor(0x00704f);
  }
  return theme;
}

QColor Theme::category(int i) const {
  const QColor pure = QColor::fromRgb(okabe_ito[static_cast<std::size_t>(i < 0 ? 7 : i) % okabe_ito.size()]);
  return dark ? mix(pure, base, 0.40) : mix(pure, base, 0.52);
}

QColor Theme::heat(double share) const {
  // Light to dark where the page is light, dark to light where it is dark: more is always further from the page.
  const double s = std::clamp(share, 0.0, 1.0);
  const QColor low = dark ? QColor(0x3a2f2a) : QColor(0xfdf0e2);
  const QColor middle = dark ? QColor(0xa04a12) : QColor(0xf5a35c);
  const QColor high = dark ? QColor(0xffb870) : QColor(0xb3380a);
  return s < 0.5 ? mix(low, middle, s * 2) : mix(middle, high, s * 2 - 1);
}

QColor Theme::state(BufferState state) const {
  switch (state) {
    case BufferState::filling: return category(5);
    case BufferState::in_use: return category(2);
    case BufferState::draining: return category(1);
    case BufferState::idle: return dark ? QColor(0x3b424b) : QColor(0xe3e7eb);
  }
  return line;
}

Qt::BrushStyle Theme::pattern(BufferState state) const {
  switch (state) {
    case BufferState::filling: return Qt::BDiagPattern;
    case BufferState::in_use: return Qt::SolidPattern;
    case BufferState::draining: return Qt::FDiagPattern;
    case BufferState::idle: return Qt::SolidPattern;
  }
  return Qt::SolidPattern;
}

QColor Theme::on(const QColor& fill) const {
  const double light = 0.299 * fill.redF() + 0.587 * fill.greenF() + 0.114 * fill.blueF();
  return light > 0.5 ? QColor(0x14191e) : QColor(0xf4f6f8);
}

QPalette Theme::palette() const {
  QPalette p;
  p.setColor(QPalette::Window, window);
  p.setColor(QPalette::WindowText, text);
  p.setColor(QPalette::Base, base);
  p.setColor(QPalette::AlternateBase, raised);
  p.setColor(QPalette::Text, text);
  p.setColor(QPalette::Button, window);
  p.setColor(QPalette::ButtonText, text);
  p.setColor(QPalette::ToolTipBase, raised);
  p.setColor(QPalette::ToolTipText, text);
  p.setColor(QPalette::PlaceholderText, muted);
  p.setColor(QPalette::Highlight, accent);
  p.setColor(QPalette::HighlightedText, accent_text);
  p.setColor(QPalette::Link, accent);
  p.setColor(QPalette::Light, dark ? mix(window, text, 0.12) : QColor(Qt::white));
  p.setColor(QPalette::Midlight, mix(window, base, 0.5));
  p.setColor(QPalette::Mid, line);
  p.setColor(QPalette::Dark, mix(line, text, 0.3));
  p.setColor(QPalette::Shadow, QColor(Qt::black));
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    p.setColor(QPalette::Disabled, role, mix(muted, window, 0.35));
  }
  return p;
}

QString Theme::style_sheet() const {
  return format(
      "QToolTip {{ color: {0}; background: {1}; border: 1px solid {2}; padding: 4px; }}"
      "QDockWidget::title {{ background: {3}; padding: 5px 8px; }}"
      "QMainWindow::separator {{ background: {2}; width: 3px; height: 3px; }}"
      "QMainWindow::separator:hover {{ background: {4}; }}"
      "QHeaderView::section {{ background: {3}; color: {0}; border: none; border-right: 1px solid {2};"
      " border-bottom: 1px solid {2}; padding: 4px 8px; }}"
      "QTableView {{ gridline-color: {2}; border: none; }}"
      // The style draws frames darker than the window, which nobody sees on a dark one.
      "QLineEdit, QComboBox {{ border: 1px solid {2}; border-radius: 3px; padding: 2px 4px;"
      " background: {6}; color: {0}; }}"
      "QLineEdit:focus, QComboBox:focus {{ border-color: {4}; }}"
      "QLineEdit[invalid=\"true\"] {{ border-color: {8}; }}"
      // Of the style's own sliders a dark window shows next to nothing.
      "QSlider::groove:horizontal {{ height: 4px; border-radius: 2px; background: {2}; }}"
      "QSlider::sub-page:horizontal {{ border-radius: 2px; background: {4}; }}"
      "QSlider::sub-page:horizontal:disabled {{ background: {2}; }}"
      "QSlider::handle:horizontal {{ width: 11px; margin: -5px 0; border: 1px solid {5}; border-radius: 6px;"
      " background: {6}; }}"
      "QSlider::handle:horizontal:focus, QSlider::handle:horizontal:hover {{ border-color: {4}; }}"
      "QSlider::handle:horizontal:disabled {{ border-color: {2}; background: {3}; }}"
      "QCheckBox {{ spacing: 6px; margin-left: 4px; margin-right: 6px; }}"
      "QCheckBox::indicator {{ width: 13px; height: 13px; border: 1px solid {5}; border-radius: 2px;"
      " background: {6}; }}"
      "QCheckBox::indicator:focus {{ border-color: {4}; }}"
      "QCheckBox::indicator:checked {{ background: {4}; image: url(:/{7}); }}",
      text.name().toStdString(), raised.name().toStdString(), line.name().toStdString(), window.name().toStdString(),
      accent.name().toStdString(), muted.name().toStdString(), base.name().toStdString(),
      dark ? "check-dark.svg" : "check-light.svg", error.name().toStdString());
}

Look::Look(QObject* parent) : QObject(parent), theme_(make_theme(false)) {}

QFont Look::textFont() const {
  QFont font = QFontDatabase::systemFont(QFontDatabase::GeneralFont);
  // Without a desktop there is no system font worth the name; pictures look the same everywhere with this one.
  if (QGuiApplication::platformName() == QStringLiteral("offscreen")) font = QFont(QStringLiteral("DejaVu Sans"));
  font.setPointSizeF(points_);
  return font;
}

QFont Look::smallFont() const {
  QFont font = textFont();
  font.setPointSizeF(std::max(6.5, points_ - 1.5));
  return font;
}

QFont Look::titleFont() const {
  QFont font = textFont();
  font.setPointSizeF(points_ + 1);
  font.setWeight(QFont::DemiBold);
  return font;
}

QFont Look::codeFont() const {
  QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  if (QGuiApplication::platformName() == QStringLiteral("offscreen")) font = QFont(QStringLiteral("DejaVu Sans Mono"));
  font.setPointSizeF(std::max(6.5, points_ - 0.5));
  return font;
}

int Look::characters(double count) const {
  return static_cast<int>(std::ceil(count * QFontMetricsF(textFont()).averageCharWidth()));
}

int Look::lines(double count) const {
  return static_cast<int>(std::ceil(count * QFontMetricsF(textFont()).lineSpacing()));
}

void Look::copy(const Look& other) {
  setDark(other.theme().dark);
  setUnits(other.units());
  setPointSize(other.pointSize());
}

void Look::setDark(bool dark) {
  if (dark == theme_.dark) return;
  theme_ = make_theme(dark);
  Q_EMIT changed();
}

void Look::setUnits(Units units) {
  if (units == units_) return;
  units_ = units;
  Q_EMIT changed();
}

void Look::setPointSize(double points) {
  const double wanted = std::clamp(points, 7.0, 24.0);
  if (wanted == points_) return;
  points_ = wanted;
  Q_EMIT changed();
}

void apply_to_application(const Look& look) {
  use_resources();  // the style sheet names some
  QApplication::setStyle(QStringLiteral("Fusion"));
  QApplication::setPalette(look.theme().palette());
  QApplication::setFont(look.textFont());
  if (auto* application = qobject_cast<QApplication*>(QCoreApplication::instance())) {
    application->setStyleSheet(look.theme().style_sheet());
  }
}

QString count_text(std::int64_t number) { return qt(shown_count(number)); }

QString size_text(std::int64_t bytes, Units units) { return qt(shown_size(bytes, units)); }

QString time_text(std::int64_t cycles, double clock_hz, Units units) { return qt(shown_time(cycles, clock_hz, units)); }

QString full_time_text(std::int64_t cycles, double clock_hz, Units units) {
  return time_text(cycles, clock_hz, units) + (units.time == TimeUnit::cycles ? QStringLiteral(" cycles") : QString());
}

QString seconds_text(std::int64_t cycles, double clock_hz) { return qt(shown_seconds(cycles, clock_hz)); }

QString rate_text(double bytes_per_second) {
  return bytes_per_second >= 1e9 ? format("{:.1f} GB/s", bytes_per_second / 1e9)
                                 : format("{:.0f} MB/s", bytes_per_second / 1e6);
}

QString percent_text(double share) { return qt(shown_share(share)); }

}  // namespace stowage::inspector
