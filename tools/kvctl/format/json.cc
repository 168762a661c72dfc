// Replies as one line of JSON.
#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "format/format.h"
#include "format/node_reader.h"

namespace keyway::kvctl {
namespace {

using resp::Kind;
using resp::Reply;

void append_one(NodeReader& reader, std::string& out);

void append_scalar(const Reply& reply, std::string& out) {
  switch (reply.kind) {
    case Kind::kNull: out += "null"; return;
    case Kind::kInteger: out += std::to_string(reply.integer); return;
    case Kind::kBoolean: out += reply.integer != 0 ? "true" : "false"; return;
    case Kind::kBigNumber: out += reply.text; return;
    case Kind::kReal:  // JSON has no inf and no nan
      if (std::isfinite(reply.real)) {
        out += reply.text;
      } else {
        append_json_string(reply.text, out);
      }
      return;
    case Kind::kError:
      out += "{\"error\":";
      append_json_string(reply.text, out);
      out += '}';
      return;
    default: append_json_string(reply.text, out);
  }
}

/// A key of an object is a string; another value becomes one, as JSON writes it.
void append_key(NodeReader& reader, std::string& out) {
  const Kind kind = reader.peek().kind;
  if (kind == Kind::kBulk || kind == Kind::kSimple || kind == Kind::kVerbatim) {
    return append_json_string(reader.next().text, out);
  }
  std::string value;
  append_one(reader, value);
  append_json_string(value, out);
}

void append_one(NodeReader& reader, std::string& out) {
  const Reply& reply = reader.next();
  if (!has_elements(reply.kind)) return append_scalar(reply, out);
  const bool pairs = reply.kind == Kind::kMap;
  out += pairs ? '{' : '[';
  for (std::int64_t i = 0; i < reply.integer; ++i) {
    if (i != 0) out += pairs && i % 2 != 0 ? ':' : ',';
    if (pairs && i % 2 == 0) {
      append_key(reader, out);
    } else {
      append_one(reader, out);
    }
  }
  out += pairs ? '}' : ']';
}

}  // namespace

void append_json_string(std::string_view bytes, std::string& out) {
  const nlohmann::json text = bytes;
  out += text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_json(Nodes nodes, std::string& out) {
  NodeReader reader(nodes);
  append_one(reader, out);
  out += '\n';
}

}  // namespace keyway::kvctl
