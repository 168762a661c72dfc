// Replies for scripts: the bytes themselves, an element a line.
#include "format/format.h"
#include "format/node_reader.h"

namespace keyway::kvctl {
namespace {

using resp::Kind;
using resp::Reply;

void append_scalar(const Reply& reply, std::string& out) {
  switch (reply.kind) {
    case Kind::kNull: return;
    case Kind::kInteger: out += std::to_string(reply.integer); return;
    case Kind::kBoolean: out += reply.integer != 0 ? "(true)" : "(false)"; return;
    case Kind::kError:
      out += reply.text;
      out += '\n';
      return;
    default: out += reply.text;
  }
}

void append_one(NodeReader& reader, std::string& out) {
  const Reply& reply = reader.next();
  if (!has_elements(reply.kind)) return append_scalar(reply, out);
  const bool pairs = reply.kind == Kind::kMap;
  for (std::int64_t i = 0; i < reply.integer; ++i) {
    if (i != 0) out += pairs && i % 2 != 0 ? ' ' : '\n';
    append_one(reader, out);
  }
}

}  // namespace

void append_raw(Nodes nodes, std::string& out) {
  append_text(nodes, out);
  out += '\n';
}

void append_text(Nodes nodes, std::string& out) {
  NodeReader reader(nodes);
  append_one(reader, out);
}

}  // namespace keyway::kvctl
