// SPDX-License-Identifier: Apache-2.0
#include "inspector/application.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QEventLoop>
#include <QFileInfo>
#include <QIcon>
#include <QSettings>
#include <QTemporaryDir>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "driver/manual/completions.h"
#include "driver/manual/manual_page.h"
#include "inspector/panes/export.h"
#include "inspector/panes/graph_pane.h"
#include "inspector/panes/timeline_pane.h"
#include "inspector/window/main_window.h"

/// The resources of a static library come with it only if they are asked for, outside of any namespace.
static void use_resources() { Q_INIT_RESOURCE(inspector); }

namespace stowage::inspector {

namespace {

/// "--export window": the whole window as one picture.
const QString window_name = QStringLiteral("window");

struct Options {
  QString layout;
  QString front;
  QString export_pane;
  QString op;
  QString output;
  QString graph;                        ///< which graph, "" as the pane has it
  QString colours;                      ///< what it is coloured by
  std::pair<int, int> cycles = {0, 0};  ///< that the timeline shows; none: all
  QSizeF size = {1280, 800};
  double scale = 0;  ///< of a PNG, 0 as it comes
  bool dark = false;
  bool light = false;
  QStringList paths;
};

const QStringList graph_names = {QStringLiteral("fused"), QStringLiteral("computation"), QStringLiteral("both")};
const QStringList colour_names = {QStringLiteral("template"), QStringLiteral("time"), QStringLiteral("bytes"),
                                  QStringLiteral("ldm"), QStringLiteral("change")};

const QString plan_text =
    QStringLiteral("A compiled folder, an ONNX model or a batch file; a nest or a folder of exercises to be checked.");
const QString baseline_text = QStringLiteral("Another one to compare it with.");

void say(const QString& text) { std::fprintf(stderr, "stowage-inspector: %s\n", qPrintable(text)); }

/// What Qt has to say, but for what concerns nobody without a desktop.
void show_message(QtMsgType type, const QMessageLogContext&, const QString& message) {
  if (type == QtDebugMsg || type == QtInfoMsg || message.contains(QLatin1String("XDG_RUNTIME_DIR")) ||
      message.contains(QLatin1String("propagateSizeHints"))) {
    return;
  }
  say(message);
}

QString joined_names(const std::vector<QString>& names) {
  return QStringList(names.begin(), names.end()).join(QStringLiteral(", "));
}

QString pane_list() {
  QStringList names;
  for (const PaneRow& row : pane_table()) names.push_back(qt(row.name));
  names.push_back(window_name);
  return names.join(QStringLiteral(", "));
}

/// Options, or the exit code where there is nothing more to do.
class CommandLine {
 public:
  CommandLine() {
    parser_.setApplicationDescription(QStringLiteral("Shows plans of Stowage: what is stowed where, when, and why."));
    parser_.addOptions(
        {pane_, op_, output_, size_, scale_, cycles_, layout_, front_, graph_, colours_, dark_, light_, manual_});
    parser_.addPositionalArgument(QStringLiteral("PLAN"), plan_text);
    parser_.addPositionalArgument(QStringLiteral("BASELINE"), baseline_text, QStringLiteral("[BASELINE]"));
  }

  std::variant<Options, int> read(const QStringList& arguments) {
    if (!parser_.parse(arguments)) return usage(parser_.errorText());
    if (parser_.isSet(help_)) {
      std::fputs(qPrintable(parser_.helpText()), stdout);
      return 0;
    }
    if (parser_.isSet(version_)) {
      std::fprintf(stdout, "stowage-inspector %s\n", std::string(stowage_version()).c_str());
      return 0;
    }
    if (parser_.isSet(manual_)) return write_manual(parser_.value(manual_).toStdString());
    Options options;
    options.op = parser_.value(op_);
    options.output = parser_.value(output_);
    options.dark = parser_.isSet(dark_);
    options.light = parser_.isSet(light_);
    options.paths = parser_.positionalArguments();
    if (options.paths.size() > 2) return usage(QStringLiteral("at most two plans can be opened"));
    std::optional<QString> mistake = read_window(options);
    if (!mistake) mistake = read_graph(options);
    if (!mistake) mistake = read_size(options);
    if (!mistake) mistake = read_export(options);
    if (mistake) return usage(*mistake);
    return options;
  }

 private:
  static int usage(const QString& text) {
    say(text + QStringLiteral(" (see --help)"));
    return 2;
  }

  // Each reads some options, or says what is wrong with them.

  [[nodiscard]] std::optional<QString> read_window(Options& options) const {
    options.layout = parser_.value(layout_);
    const std::vector<QString> layouts = layout_names();
    if (parser_.isSet(layout_) && std::find(layouts.begin(), layouts.end(), options.layout) == layouts.end()) {
      return QStringLiteral("there is no layout '%1'").arg(options.layout);
    }
    options.front = parser_.value(front_);
    if (parser_.isSet(front_) && find_pane(options.front.toStdString()) == nullptr) return no_pane(options.front);
    return std::nullopt;
  }

  [[nodiscard]] std::optional<QString> read_graph(Options& options) const {
    options.graph = parser_.value(graph_);
    options.colours = parser_.value(colours_);
    if ((parser_.isSet(graph_) || parser_.isSet(colours_)) && parser_.value(pane_) != QStringLiteral("graph")) {
      return QStringLiteral("--graph and --colours belong to --export graph");
    }
    if (parser_.isSet(graph_) && !graph_names.contains(options.graph)) {
      return QStringLiteral("there is no graph '%1'; there are %2")
          .arg(options.graph, graph_names.join(QStringLiteral(", ")));
    }
    if (parser_.isSet(colours_) && !colour_names.contains(options.colours)) {
      return QStringLiteral("there are no colours by '%1'; there are %2")
          .arg(options.colours, colour_names.join(QStringLiteral(", ")));
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<QString> read_size(Options& options) const {
    if (parser_.isSet(size_)) {
      const QStringList parts = parser_.value(size_).split(QLatin1Char('x'));
      bool width_read = false;
      bool height_read = false;
      if (parts.size() == 2) options.size = QSizeF(parts[0].toInt(&width_read), parts[1].toInt(&height_read));
      constexpr double maximum = 20000;
      if (!width_read || !height_read || options.size.width() < 1 || options.size.height() < 1 ||
          options.size.width() > maximum || options.size.height() > maximum) {
        return QStringLiteral("--size wants a width and a height, as in 1280x800");
      }
    }
    if (parser_.isSet(scale_)) {
      bool read = false;
      options.scale = parser_.value(scale_).toDouble(&read);
      constexpr double maximum = 16;
      if (!read || !(options.scale > 0) || options.scale > maximum) {
        return QStringLiteral("--scale wants a number above 0, at most %1").arg(maximum);
      }
      if (!parser_.isSet(pane_) || parser_.value(pane_) == window_name) {
        return QStringLiteral("--scale belongs to --export of a pane");
      }
    }
    if (parser_.isSet(cycles_)) {
      const QStringList ends = parser_.value(cycles_).split(QLatin1Char('-'));
      if (ends.size() == 2) options.cycles = {ends[0].toInt(), ends[1].toInt()};
      if (options.cycles.second <= options.cycles.first)
        return QStringLiteral("--cycles wants the first and the last one, as in 20000-40000");
      if (!QStringList{QStringLiteral("timeline"), window_name}.contains(parser_.value(pane_)))
        return QStringLiteral("--cycles belongs to --export timeline or window");
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<QString> read_export(Options& options) const {
    options.export_pane = parser_.value(pane_);
    if (!parser_.isSet(pane_) && options.output.isEmpty()) return std::nullopt;
    if (!parser_.isSet(pane_)) return QStringLiteral("-o belongs to --export");
    const PaneRow* const pane = find_pane(options.export_pane.toStdString());
    if (options.export_pane != window_name && pane == nullptr) return no_pane(options.export_pane);
    if (options.output.isEmpty()) return QStringLiteral("--export wants a file: -o FILE");
    if (options.paths.isEmpty()) return QStringLiteral("--export wants a plan");
    if (pane != nullptr && pane->of_group && options.op.isEmpty())
      return QStringLiteral("--export %1 wants a fused operator: --op NAME").arg(options.export_pane);
    return std::nullopt;
  }

  /// What --help tells, for manual page and completions.
  [[nodiscard]] ProgramOutline outline() const {
    ProgramOutline program{.name = "stowage-inspector",
                           .version = std::string(stowage_version()),
                           .summary = parser_.applicationDescription().toStdString()};
    const auto add = [&](const QCommandLineOption& option, const ValueHint& hint = {}) {
      OptionOutline outline{
          .value = option.valueName().toStdString(), .summary = option.description().toStdString(), .hint = hint};
      for (const QString& name : option.names()) {
        outline.names.push_back((name.size() == 1 ? "-" : "--") + name.toStdString());
      }
      program.options.push_back(std::move(outline));
    };
    std::vector<std::string> panes;
    for (const PaneRow& row : pane_table()) panes.emplace_back(row.name);
    std::vector<std::string> exported = panes;
    exported.push_back(window_name.toStdString());
    const auto words = [](const auto& names) {
      std::vector<std::string> texts;
      for (const QString& name : names) texts.push_back(name.toStdString());
      return ValueHint{.names = texts};
    };
    add(help_);
    add(version_);
    add(pane_, {.names = exported});
    add(op_);
    add(output_, {.files = FileKind::any});
    add(size_);
    add(scale_);
    add(cycles_);
    add(layout_, words(layout_names()));
    add(front_, {.names = panes});
    add(graph_, words(graph_names));
    add(colours_, words(colour_names));
    add(dark_);
    add(light_);
    for (const auto& [name, text] : {std::pair("PLAN", plan_text), std::pair("BASELINE", baseline_text)}) {
      program.options.push_back({.value = name, .summary = text.toStdString(), .hint = {.files = FileKind::any}});
    }
    return program;
  }

  [[nodiscard]] int write_manual(const std::string& kind) const {
    const auto print = [](const std::string& text) { return std::fputs(text.c_str(), stdout) >= 0 ? 0 : 1; };
    if (kind == "man") return print(manual_pages(outline()).front().text);
    for (const CompletionRow& row : completion_table()) {
      if (row.shell == kind) return print(row.write(outline()));
    }
    return usage(QStringLiteral("--manual wants man or a shell: bash, zsh, fish"));
  }

  static QString no_pane(const QString& name) {
    return QStringLiteral("there is no pane '%1'; there are %2").arg(name, pane_list());
  }

  QCommandLineParser parser_;
  const QCommandLineOption help_ = parser_.addHelpOption();
  const QCommandLineOption version_ = parser_.addVersionOption();
  const QCommandLineOption pane_{QStringLiteral("export"),
                                 QStringLiteral("Write one pane to a file without a window: %1.").arg(pane_list()),
                                 QStringLiteral("PANE")};
  const QCommandLineOption op_{QStringLiteral("op"), QStringLiteral("The fused operator (or operator) to show."),
                               QStringLiteral("NAME")};
  const QCommandLineOption output_{
      {QStringLiteral("o"), QStringLiteral("output")},
      QStringLiteral(
          "File to export to: .svg, .png or .pdf; of replay also .html, or a folder for a picture of every step."),
      QStringLiteral("FILE")};
  const QCommandLineOption size_{QStringLiteral("size"), QStringLiteral("Room for the export, 1280x800 unless given."),
                                 QStringLiteral("WxH")};
  const QCommandLineOption scale_{
      QStringLiteral("scale"),
      QStringLiteral("Pixels of a .png for one of the pane: 2, or 1 where it is large, unless given."),
      QStringLiteral("NUMBER")};
  const QCommandLineOption cycles_{QStringLiteral("cycles"), QStringLiteral("Cycles that the timeline shows."),
                                   QStringLiteral("FROM-TO")};
  const QCommandLineOption layout_{QStringLiteral("layout"),
                                   QStringLiteral("Arrangement of the panes: %1.").arg(joined_names(layout_names())),
                                   QStringLiteral("NAME")};
  const QCommandLineOption front_{QStringLiteral("pane"), QStringLiteral("Pane to bring to the front of the window."),
                                  QStringLiteral("PANE")};
  const QCommandLineOption graph_{QStringLiteral("graph"),
                                  QStringLiteral("Graph to export: %1.").arg(graph_names.join(QStringLiteral(", "))),
                                  QStringLiteral("WHICH")};
  const QCommandLineOption colours_{
      QStringLiteral("colours"),
      QStringLiteral("What it is coloured by: %1.").arg(colour_names.join(QStringLiteral(", "))),
      QStringLiteral("METRIC")};
  const QCommandLineOption dark_{QStringLiteral("dark"), QStringLiteral("Use the dark theme.")};
  /// For those who build and package it.
  const QCommandLineOption manual_ = [] {
    QCommandLineOption option(QStringLiteral("manual"), {}, QStringLiteral("KIND"));
    option.setFlags(QCommandLineOption::HiddenFromHelp);
    return option;
  }();
  const QCommandLineOption light_{QStringLiteral("light"), QStringLiteral("Use the light theme.")};
};

void say(const Diagnostics& diagnostics) { std::fputs(format_diagnostics(diagnostics).c_str(), stderr); }

/// Selects what --op names. False after a message.
bool select_named(const QString& name, const Document& document, Selection& selection) {
  if (name.isEmpty()) return true;
  if (!document.plan()) {
    say(QStringLiteral("--op wants a plan"));
    return false;
  }
  if (const auto subject = find_named(*document.plan(), name.toStdString())) {
    selection.select(*subject);
    return true;
  }
  std::vector<std::string> names;
  for (const StepFacts& step : document.plan()->steps) names.push_back(step.step->group.name);
  say(QStringLiteral("there is no operator '%1': %2").arg(name, qt(suggest_name(name.toStdString(), names))));
  return false;
}

/// Opens the plans, writes the picture once they are there, and ends. `write` returns what went wrong.
int export_when_open(const Options& options, Document& document, Selection& selection,
                     const std::function<QString()>& write) {
  QEventLoop loop;
  int code = 1;
  QObject::connect(&document, &Document::openingFailed, &loop, [&] {
    say(document.diagnostics());
    loop.quit();
  });
  QObject::connect(&document, &Document::jobsFound, &loop, [&](const QString& path) {
    say(QStringLiteral("%1 has several jobs; compile one of them and open its folder").arg(path));
    loop.quit();
  });
  const auto finish = [&] {
    say(document.diagnostics());
    if (select_named(options.op, document, selection)) {
      const QString problem = write();
      if (!problem.isEmpty()) say(problem);
      code = problem.isEmpty() ? 0 : 1;
    }
    loop.quit();
  };
  // Queued, so that everybody else has seen the plan before.
  QObject::connect(&document, &Document::opened, &loop, finish, Qt::QueuedConnection);
  QObject::connect(&document, &Document::checkedOpened, &loop, finish, Qt::QueuedConnection);
  document.open({options.paths.front(), {}}, {options.paths.size() > 1 ? options.paths[1] : QString(), {}});
  loop.exec();
  return code;
}

/// Nobody is there to ask a pane for what it shows only then.
void ask_first(Pane& pane) {
  pane.flush();
  if (!pane.askFirst()) return;
  while (pane.busy()) QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
}

void show_cycles(Pane& pane, const Options& options) {
  auto* timeline = dynamic_cast<TimelinePane*>(&pane);
  if (timeline == nullptr || options.cycles.second == 0) return;
  timeline->settle();
  timeline->view().showCycles(options.cycles.first, options.cycles.second);
}

int run_export(const Options& options) {
  Look look;
  look.setDark(options.dark);
  apply_to_application(look);
  Document document;
  Selection selection(document);
  const std::unique_ptr<Pane> pane(
      find_pane(options.export_pane.toStdString())->make(PaneContext{document, selection, look}));
  pane->setWindowTitle(options.export_pane);
  pane->resize(options.size.toSize());
  return export_when_open(options, document, selection, [&] {
    if (auto* graph = dynamic_cast<GraphPane*>(pane.get())) {
      graph->settle();
      if (!options.graph.isEmpty()) {
        graph->setMode(static_cast<GraphPane::Mode>(graph_names.indexOf(options.graph)));
      }
      if (!options.colours.isEmpty()) {
        graph->setMetric(static_cast<GraphMetric>(colour_names.indexOf(options.colours)));
      }
    }
    ask_first(*pane);
    show_cycles(*pane, options);
    return export_pane(*pane, options.output, {options.size, options.scale});
  });
}

/// The window as it would be seen, without the settings of whoever runs this.
int run_window_export(const Options& options) {
  const QTemporaryDir settings;
  QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
  MainWindow window;
  window.look().setDark(options.dark);
  window.resize(options.size.toSize());
  window.show();
  return export_when_open(options, window.document(), window.selection(), [&] {
    window.setLayoutNamed(options.layout.isEmpty() ? QStringLiteral("compile") : options.layout);
    if (!options.front.isEmpty()) {
      window.raisePane(options.front.toStdString());
      ask_first(*window.pane(options.front.toStdString()));
    }
    window.settle();
    show_cycles(*window.pane("timeline"), options);
    return export_window(window, options.output);
  });
}

int run_window(const Options& options) {
  MainWindow window;
  if (options.dark || options.light) window.look().setDark(options.dark);
  window.show();
  if (!options.layout.isEmpty()) window.setFirstLayout(options.layout);
  if (!options.front.isEmpty()) window.setFirstPane(options.front);
  if (options.paths.size() == 1) window.open({options.paths[0], {}});
  if (options.paths.size() == 2) window.open({options.paths[0], {}}, {options.paths[1], {}});
  return QCoreApplication::exec();
}

}  // namespace

int run_inspector(int argc, char** argv) {
  // An export needs no display, nor do --help, --version and --manual.
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if ((argument.starts_with("--export") || argument == "--manual" || argument == "--help" || argument == "-h" ||
         argument == "--version" || argument == "-v") &&
        !qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) {
      qputenv("QT_QPA_PLATFORM", "offscreen");
    }
  }
  qInstallMessageHandler(show_message);
  try {
    QApplication application(argc, argv);
    use_resources();
    QApplication::setApplicationName(QStringLiteral("stowage-inspector"));
    QApplication::setApplicationDisplayName(QStringLiteral("Stowage inspector"));
    QApplication::setDesktopFileName(QStringLiteral("stowage-inspector"));
    QApplication::setWindowIcon(QIcon(QStringLiteral(":/stowage-inspector.svg")));
    const auto options = CommandLine().read(QApplication::arguments());
    if (const int* code = std::get_if<int>(&options)) return *code;
    const Options& wanted = std::get<Options>(options);
    if (wanted.export_pane.isEmpty()) return run_window(wanted);
    return wanted.export_pane == window_name ? run_window_export(wanted) : run_export(wanted);
  } catch (const std::exception& failure) {
    say(QStringLiteral("internal error: %1").arg(QString::fromUtf8(failure.what())));
    return 3;
  }
}

}  // namespace stowage::inspector
