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
  /// Text of a string or an error; empty for other types.
  std::string_view text() const;
  /// Value of an integer, or of a string that is a number; 0 otherwise.
  double number() const;
  std::uint64_t count() const;
  /// The elements of a list; of a map, keys and values in turn.
  std::vector<Tree> elements() const;
  /// The value of this field, in a map or in the list that RESP2 uses for one.
  Tree field(std::string_view name) const;

 private:
  const resp::Reply& root() const { return nodes_.front(); }

  Nodes nodes_;
};

}  // namespace keyway::kvctl
