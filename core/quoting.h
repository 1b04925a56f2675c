// SPDX-License-Identifier: Apache-2.0
// Text from others (names in a model, messages of programs) as it stands in the languages that are written here: one
// function a language, so that no name is ever read as anything but a name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stowage {

/// In XML and HTML, as text and as an attribute's value in double quotes, and in the HTML-like labels of Graphviz: the
/// five characters of markup become entities, characters that XML does not allow are left out.
std::string escaped(std::string_view text);

/// A string of Graphviz in double quotes, which is shown as the text is: nothing in it is an entity, an escape like \N,
/// or an HTML-like label. A long one is several, joined by +.
std::string dot_string(std::string_view text);

/// A cell of a CSV file (RFC 4180). Text that a spreadsheet would take for a formula (it starts with =, +, -, @, a
/// tabulator or a carriage return, and is no number) gets a ' in front.
std::string csv_cell(std::string_view text);

/// On a terminal: control characters, also those of Unicode that turn the direction of text or separate lines, become
/// "\u001b" or "\u202e" (in a string of JSON they are the same character still); line feeds and tabulators stay. What
/// is no UTF-8 becomes "\xff" byte by byte.
std::string terminal_text(std::string_view text);

/// The same on one line: line feeds and tabulators are escaped too.
std::string line_text(std::string_view text);

/// Inside a comment of emitted C: nothing that ends it, opens another, joins lines or is a trigraph, and all that is
/// not printable ASCII as "\u202e" (what is no UTF-8 as "\xff"), the backslash as "\u005c". No longer than a line may
/// be that every C compiler must read.
std::string c_comment_text(std::string_view text);

/// Text in Markdown, outside of code: line_text() that holds no markup of HTML, code or links.
std::string markdown_text(std::string_view text);

/// A span of code in Markdown.
std::string markdown_code(std::string_view text);

/// At most `most` characters of a long name: its beginning and its end with "…" between. Counts code points.
std::string shortened(std::string_view name, std::size_t maximum);

}  // namespace stowage
