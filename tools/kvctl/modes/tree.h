// Tree: a reply as fields and elements, for what reads replies itself.
//
// *Thread safety.* A value; a view of the reply.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "format/format.h"

namespace keyway::kvctl {

class Tree {
 public:
  /// Nothing.
  Tree() = default;
  explicit Tree(Nodes nodes) : nodes_(nodes) {}

  bool is_error() const { return !nodes_.empty() && root().kind == resp::Kind::kError; }
  bool is_list() const;
  /// Of a string, an error; empty of what has none.
  std::string_view text() const;
  /// Of an integer, or of a string that is a number; 0 of what is none.
  double number() const;
  std::uint64_t count() const;
  /// The elements of a list; of a map, keys and values in turn.
  std::vector<Tree> elements() const;
  /// What stands behind this name: of a map, or of the list that RESP2 makes of one.
  Tree field(std::string_view name) const;

 private:
  const resp::Reply& root() const { return nodes_.front(); }

  Nodes nodes_;
};

}  // namespace keyway::kvctl
