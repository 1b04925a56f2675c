// SPDX-License-Identifier: Apache-2.0
#include "emitter/pictures/template_palette.h"

#include <array>

#include "core/template_names.h"
#include "fusion/templates/template.h"

namespace stowage {

namespace {

// Without the scheme's olive: beside its pear that is told apart on no screen.
constexpr std::array<std::string_view, 7> fills = {"#77AADD", "#EEDD88", "#EE8866", "#44BB99",
                                                   "#FFAABB", "#99DDFF", "#BBCC33"};
constexpr std::string_view grey = "#DDDDDD";

TemplateLook numbered(std::size_t number) {
  constexpr std::array borders = {TemplateLook::Border::solid, TemplateLook::Border::dashed,
                                  TemplateLook::Border::dotted};
  return {borders[number / fills.size() % borders.size()], std::string(fills[number % fills.size()])};
}

}  // namespace

TemplateLook look_of_template(std::string_view name) {
  if (name == single_template) return {TemplateLook::Border::solid, std::string(grey)};
  if (name == view_template) return {TemplateLook::Border::dashed, std::string(grey)};
  std::size_t number = 0;
  for (const bool branches : {false, true}) {  // those of one branch have the plain looks, being the more frequent
    for (const FusionTemplate& row : built_in_templates()) {
      if ((row.branches > 1) != branches) continue;
      if (row.name == name) return numbered(number);
      ++number;
    }
  }
  std::size_t sum = 0;
  for (const char c : name) sum += static_cast<unsigned char>(c);
  return numbered(sum);
}

}  // namespace stowage
