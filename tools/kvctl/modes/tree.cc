#include "modes/tree.h"

#include "format/node_reader.h"
#include "keyway/kvstore/resp/numbers.h"
#include "keyway/locks/base/words.h"

namespace keyway::kvctl {

bool Tree::is_list() const { return !nodes_.empty() && has_elements(root().kind); }

std::string_view Tree::text() const { return nodes_.empty() ? std::string_view() : root().text; }

double Tree::number() const {
  if (nodes_.empty()) return 0;
  if (root().kind == resp::Kind::kInteger) return static_cast<double>(root().integer);
  if (root().kind == resp::Kind::kReal) return root().real;
  return resp::parse_real(root().text).value_or(0);
}

std::uint64_t Tree::count() const {
  const double value = number();
  return value > 0 ? static_cast<std::uint64_t>(value) : 0;
}

std::vector<Tree> Tree::elements() const {
  std::vector<Tree> found;
  if (!is_list()) return found;
  Nodes rest = nodes_.subspan(1);
  for (std::int64_t i = 0; i < root().integer; ++i) {
    const std::size_t size = resp::extent(rest);
    found.push_back(Tree(rest.first(size)));
    rest = rest.subspan(size);
  }
  return found;
}

Tree Tree::field(std::string_view name) const {
  const std::vector<Tree> all = elements();
  for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
    if (same_word(all[i].text(), name)) return all[i + 1];
  }
  return {};
}

}  // namespace keyway::kvctl
