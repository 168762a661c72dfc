// Replies as text: for people, for scripts, as CSV, as JSON.
//
// *Thread safety.* Functions of their arguments.
// *Source.* The output of redis-cli 7.0, byte for byte. Deviations: an error in JSON is an object
// with the field "error", which redis-cli writes in a form that no JSON parser accepts; bytes in
// JSON that are not UTF-8 become U+FFFD; numbers of any length are shown, and redis-cli fails on
// long ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "keyway/kvstore/resp/reply_parser.h"

namespace keyway::kvctl {

enum class Style : std::uint8_t { kPretty, kRaw, kCsv, kJson };

/// The nodes of one reply, its root first.
using Nodes = std::span<const resp::Reply>;

/// Appends a reply as a person or a program reads it, its last line ended.
void append_reply(Nodes nodes, Style style, std::string& out);

/// Appends a reply that is text in lines already, such as INFO's, as it is.
void append_text(Nodes nodes, std::string& out);

/// Whether what these words are answered with is text in lines.
bool is_answered_in_lines(std::span<const std::string> words);

/// In double quotes, with what is not printable behind backslashes; split_line() reads it.
void append_quoted(std::string_view bytes, std::string& out);

/// A JSON string. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string_view bytes, std::string& out);

// One file each.
void append_pretty(Nodes nodes, std::string& out);
void append_raw(Nodes nodes, std::string& out);
void append_csv(Nodes nodes, std::string& out);
void append_json(Nodes nodes, std::string& out);

}  // namespace keyway::kvctl
