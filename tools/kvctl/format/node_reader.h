// NodeReader: walks a reply that is kept flat, every node before its elements.
//
// *Thread safety.* One thread's. A reply is no deeper than ReplyParser::kMaxDepth, so what walks
// it may recurse.
#pragma once

#include "format/format.h"
#include "keyway/locks/base/check.h"

namespace keyway::kvctl {

class NodeReader {
 public:
  explicit NodeReader(Nodes nodes) : nodes_(nodes) {}

  const resp::Reply& peek() const {
    KW_CHECK(at_ < nodes_.size());
    return nodes_[at_];
  }
  const resp::Reply& next() {
    const resp::Reply& node = peek();
    ++at_;
    return node;
  }
  bool at_end() const { return at_ == nodes_.size(); }

 private:
  Nodes nodes_;
  std::size_t at_ = 0;
};

constexpr bool has_elements(resp::Kind kind) {
  return kind == resp::Kind::kArray || kind == resp::Kind::kMap || kind == resp::Kind::kSet ||
         kind == resp::Kind::kPush;
}

}  // namespace keyway::kvctl
