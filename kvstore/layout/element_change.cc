#include "keyway/kvstore/layout/element_change.h"

#include "keyway/kvstore/layout/element_sum.h"
#include "keyway/locks/fabric/time_slice.h"

namespace keyway::store {
namespace {

constexpr std::uint64_t block_down(std::uint64_t at) {
  return at / kSumBlockBytes * kSumBlockBytes;
}
constexpr std::uint64_t block_up(std::uint64_t at) { return block_down(at + kSumBlockBytes - 1); }

}  // namespace

ElementChange::ElementChange(const ElementHead& old, std::uint64_t offset, std::string_view bytes,
                             std::uint64_t expires_at_ms)
    : old_(old),
      offset_(offset),
      bytes_(bytes),
      expires_at_ms_(expires_at_ms),
      value_bytes_(std::max(old.value_bytes, offset + bytes.size())),
      checksum_(old.checksum) {
  const std::uint64_t begin = std::min(offset, old.value_bytes);
  changed_ = {begin, std::max(begin, offset + bytes.size())};
}

ElementChange::Extent ElementChange::window_before() const {
  const Extent all = window();
  return {all.begin, std::clamp(old_.value_bytes, all.begin, all.end)};
}

ElementChange::Extent ElementChange::window() const {
  if (changed_.bytes() == 0) return {};
  if (!old_.proof) return changed_;  // no checksum to change
  return {block_down(changed_.begin), std::min(value_bytes_, block_up(changed_.end))};
}

void ElementChange::apply(std::span<std::byte> window) {
  const Extent all = this->window();
  const std::uint64_t before = window_before().bytes();
  KW_CHECK(window.size() >= all.bytes());
  const std::uint64_t place = all.begin / kSumBlockBytes;
  const auto sum_of_window = [&](std::uint64_t bytes) {
    return old_.proof ? sum_in_parts(window.first(bytes), place) : 0;
  };
  const auto term_of = [](const ElementHead& head) {
    return head.proof ? header_term(header_of(head), head.expires_at_ms) : 0;
  };
  ElementHead head = old_;
  checksum_ -= term_of(head);
  if (changed_.bytes() > 0) {
    checksum_ -= sum_of_window(before);
    if (offset_ > old_.value_bytes) {
      const auto gap = window.subspan(before, offset_ - old_.value_bytes);
      fabric::for_each_part(
          gap.size(), [&](std::size_t at, std::size_t n) { std::memset(gap.data() + at, 0, n); });
    }
    auto* text = reinterpret_cast<char*>(window.data()) + (offset_ - all.begin);
    fabric::for_each_part(bytes_.size(), [&](std::size_t at, std::size_t n) {
      bytes_.substr(at, n).copy(text + at, n);
    });
    checksum_ += sum_of_window(all.bytes());
  }
  head.value_bytes = value_bytes_;
  head.expires_at_ms = expires_at_ms_;
  head.version = version();
  checksum_ += term_of(head);
}

void ElementChange::write_head(std::span<std::byte> out) const {
  ElementHead head = old_;
  head.value_bytes = value_bytes_;
  head.version = version();
  head.checksum = checksum_;
  write_header(out, header_of(head), expires_at_ms_);
}

}  // namespace keyway::store
