// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/declare_sensitivity.h"

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "driver/sensitivity/curve.h"
#include "driver/tool/option_values.h"

namespace stowage {

namespace {

/// Of the built-in target; another one may have others.
std::vector<std::string> usual_keys() {
  Diagnostics ignored;
  std::vector<std::string> keys;
  const auto target = load_target(CompileRequest{}.target, {}, ignored);
  if (!target) return keys;
  for (const auto& [key, value] : curve_keys(*target)) keys.push_back(key);
  return keys;
}

}  // namespace

void declare_sensitivity(CLI::App& app, Options& all) {
  SensitivityOptions& options = all.sensitivity;
  app.add_option("DIR", options.folder, "what compile -o wrote")->required()->type_name("");
  app.add_option("--key", options.key, "a number of the target: target.ldm.bytes, target.cores.count, ...")
      ->required()
      ->check(known(usual_keys()))
      ->type_name("KEY");
  app.add_option("--from", options.range.from, "the first value")->required()->type_name("A");
  app.add_option("--to", options.range.to, "no value is larger than this")->required()->type_name("B");
  CLI::Option* step =
      app.add_option("--step", options.range.step, "difference between each value and the one before")->type_name("S");
  app.add_option("--factor", options.range.factor, "ratio of each value to the one before (2, without --step)")
      ->excludes(step)
      ->type_name("F");
  app.add_option("--schedule", options.schedule, "schedules with which DIR was compiled")->type_name("FILE.toml");
  CLI::Option* output =
      app.add_option("-o", options.output, "a page, or with FILE.csv a table")->type_name("FILE.html");
  app.add_flag("--force", options.force, "replace the file if it exists")->needs(output);
  app.add_option("-j", options.threads, "threads that plan (0: one a core)")
      ->check(whole_number(0, 4096))
      ->type_name("N");
  app.add_option("--cost-cache", options.cost_cache, "folder that keeps predicted costs between runs, or 'none'")
      ->check(known({"none"}))
      ->type_name("DIR");
}

}  // namespace stowage
