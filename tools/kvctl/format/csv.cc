// Replies as one line of values between commas.
#include "format/format.h"
#include "format/node_reader.h"

namespace keyway::kvctl {
namespace {

using resp::Kind;
using resp::Reply;

void append_scalar(const Reply& reply, std::string& out) {
  switch (reply.kind) {
    case Kind::kNull: out += "NULL"; return;
    case Kind::kInteger: out += std::to_string(reply.integer); return;
    case Kind::kBoolean: out += reply.integer != 0 ? "true" : "false"; return;
    case Kind::kReal:
    case Kind::kBigNumber: out += reply.text; return;
    case Kind::kError: out += "ERROR,"; [[fallthrough]];
    default: append_quoted(reply.text, out);
  }
}

/// Nesting does not show: an array without elements is an empty value, any other its elements.
void append_one(NodeReader& reader, std::string& out) {
  const Reply& reply = reader.next();
  if (!has_elements(reply.kind)) return append_scalar(reply, out);
  for (std::int64_t i = 0; i < reply.integer; ++i) {
    if (i != 0) out += ',';
    append_one(reader, out);
  }
}

}  // namespace

void append_csv(Nodes nodes, std::string& out) {
  NodeReader reader(nodes);
  append_one(reader, out);
  out += '\n';
}

}  // namespace keyway::kvctl
