// Formatted replies: the type of each reply, and the number of each element.
#include <fmt/core.h>

#include <iterator>

#include "format/format.h"
#include "format/node_reader.h"

namespace keyway::kvctl {
namespace {

using resp::Kind;
using resp::Reply;

class PrettyWriter {
 public:
  PrettyWriter(Nodes nodes, std::string& out) : reader_(nodes), out_(out) {}

  /// The next reply; lines after its first begin with `prefix`.
  void one(const std::string& prefix) {
    const Reply& reply = reader_.next();
    if (has_elements(reply.kind)) return elements(reply, prefix);
    scalar(reply);
    out_ += '\n';
  }

 private:
  void scalar(const Reply& reply) {
    switch (reply.kind) {
      case Kind::kError: fmt::format_to(std::back_inserter(out_), "(error) {}", reply.text); break;
      case Kind::kInteger:
        fmt::format_to(std::back_inserter(out_), "(integer) {}", reply.integer);
        break;
      case Kind::kReal: fmt::format_to(std::back_inserter(out_), "(double) {}", reply.text); break;
      case Kind::kBigNumber:
        fmt::format_to(std::back_inserter(out_), "(big number) {}", reply.text);
        break;
      case Kind::kBoolean: out_ += reply.integer != 0 ? "(true)" : "(false)"; break;
      case Kind::kNull: out_ += "(nil)"; break;
      case Kind::kBulk: append_quoted(reply.text, out_); break;
      default: out_ += reply.text;
    }
  }

  static std::string_view name_of_empty(Kind kind) {
    switch (kind) {
      case Kind::kMap: return "(empty hash)\n";
      case Kind::kSet: return "(empty set)\n";
      case Kind::kPush: return "(empty push)\n";
      default: return "(empty array)\n";
    }
  }

  void elements(const Reply& reply, const std::string& prefix) {
    if (reply.integer == 0) {
      out_ += name_of_empty(reply.kind);
      return;
    }
    const bool pairs = reply.kind == Kind::kMap;
    const std::int64_t count = pairs ? reply.integer / 2 : reply.integer;
    const std::size_t width = std::to_string(count).size();
    const char mark = pairs ? '#' : reply.kind == Kind::kSet ? '~' : ')';
    const std::string deeper = prefix + std::string(width + 2, ' ');
    for (std::int64_t i = 1; i <= count; ++i) {
      if (i != 1) out_ += prefix;
      fmt::format_to(std::back_inserter(out_), "{:>{}}{} ", i, width, mark);
      one(deeper);
      if (!pairs) continue;
      out_.pop_back();
      out_ += " => ";
      // Elements that take several lines begin on one of their own.
      const bool list = has_elements(reader_.peek().kind);
      const std::size_t from = out_.size();
      one(deeper);
      if (list && out_.find('\n', from) + 1 != out_.size()) out_.insert(from, '\n' + deeper);
    }
  }

  NodeReader reader_;
  std::string& out_;
};

}  // namespace

void append_pretty(Nodes nodes, std::string& out) { PrettyWriter(nodes, out).one(""); }

}  // namespace keyway::kvctl
