// SPDX-License-Identifier: Apache-2.0
// Names of files and folders in the making (HiddenTemporary): ".NAME.stowage-" and 16 random hexadecimal digits.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stowage {

/// Whether it is exactly `digits` lower-case hexadecimal digits.
bool is_hexadecimal(std::string_view text, std::size_t digits);

/// A name beside `name` that nobody can guess. Long ones are cut, so that it is no longer than a name may be.
std::string temporary_name(std::string_view name);
/// What a temporary's name becomes while the folder at its place steps aside.
inline constexpr std::string_view stepped_aside = ".old";

/// The part of `name` that temporary_name keeps.
std::string_view cut_name(std::string_view name);
/// The cut name of what `name` is a temporary of, stepped aside or not; "" where it is none.
std::string_view name_behind_temporary(std::string_view name);

}  // namespace stowage
