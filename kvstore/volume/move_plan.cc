#include "keyway/kvstore/volume/move_plan.h"

#include <algorithm>

namespace keyway::store {
namespace {

std::uint64_t room_in(ChunkState state) {
  const std::uint64_t capacity = class_capacity(state.size_class());
  return capacity - std::min(state.count(), capacity);
}
std::uint64_t bytes_in(ChunkState state) { return state.count() * class_bytes(state.size_class()); }

}  // namespace

MovePlan::MovePlan(std::span<const ChunkState> states) : states_(states) {
  for (const ChunkState state : states) {
    if (state.free()) ++free_chunks_;
    if (!state.is_cut() || room_in(state) == 0) continue;
    room_[state.size_class()] += static_cast<std::int64_t>(room_in(state));
    ++partial_[state.size_class()];
  }
}

/// All chunks with live blocks and room, those with the fewest bytes first.
std::vector<MovePlan::Candidate> MovePlan::sparse_chunks() const {
  std::vector<Candidate> found;
  for (std::uint64_t at = 0; at < states_.size(); ++at) {
    const ChunkState state = states_[at];
    if (state.is_cut() && room_in(state) > 0) found.push_back({bytes_in(state), at});
  }
  std::sort(found.begin(), found.end());
  return found;
}

MovePlan::Choice MovePlan::chunks(std::uint64_t from) const {
  const std::vector<Candidate> found = sparse_chunks();
  ByClass room = room_;
  ByClass partial = partial_;
  Choice choice;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  for (std::uint64_t i = from; i < found.size(); ++i) {
    const ChunkState state = states_[found[i].first];
    const std::uint32_t c = state.size_class();
    // M1: its own room goes, and its blocks take room elsewhere.
    const std::int64_t left = room[c] - class_capacity(c);
    if (left < 0 || (partial[c] - 1) * 2 < partial_[c]) continue;                     // M3
    if (blocks + state.count() > kMaxBlocks || bytes + found[i].bytes > kMaxBytes) {  // M2
      choice.next = i;
      break;
    }
    blocks += state.count();
    bytes += found[i].bytes;
    room[c] = left;
    --partial[c];
    choice.chunks.push_back(found[i].first);
  }
  return choice;
}

/// All windows without a run in which something is to be moved, those with the fewest bytes first.
std::vector<MovePlan::Candidate> MovePlan::windows(std::uint64_t width) const {
  std::vector<Candidate> found;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t runs = 0;  // chunks of runs
  const auto count = [&](ChunkState state, std::uint64_t sign) {
    if (state.free()) return;
    if (!state.is_cut()) {
      runs += sign;
      return;
    }
    blocks += sign * state.count();
    bytes += sign * bytes_in(state);
  };
  for (std::uint64_t at = 0; at < states_.size(); ++at) {
    count(states_[at], 1);
    if (at >= width) count(states_[at - width], ~0ULL);  // minus one
    if (at + 1 < width || runs > 0 || blocks == 0) continue;
    if (blocks <= kMaxBlocks && bytes <= kMaxBytes) found.push_back({bytes, at + 1 - width});
  }
  std::sort(found.begin(), found.end());
  return found;
}

MovePlan::Choice MovePlan::window(std::uint64_t width, std::uint64_t from) const {
  const std::vector<Candidate> found = windows(width);
  const std::uint64_t end = std::min<std::uint64_t>(found.size(), from + kMaxTried);
  Choice choice{.chunks = {}, .width = width, .next = end < found.size() ? end : 0};
  for (std::uint64_t i = from; i < end; ++i) {
    if (!fits(found[i].first, width)) continue;
    choice.chunks.push_back(found[i].first);
    choice.next = i + 1 < found.size() ? i + 1 : 0;
    break;
  }
  return choice;
}

/// M1, of a window.
bool MovePlan::fits(std::uint64_t first, std::uint64_t width) const {
  ByClass left = room_;
  std::int64_t free_left = free_chunks_;
  for (const ChunkState state : states_.subspan(first, width)) {
    if (state.free()) --free_left;
    if (state.is_cut()) left[state.size_class()] -= class_capacity(state.size_class());
  }
  for (std::uint32_t c = 0; c < kClasses; ++c) {
    if (left[c] >= 0) continue;
    const std::int64_t capacity = class_capacity(c);
    free_left -= (capacity - 1 - left[c]) / capacity;
  }
  return free_left >= 0;
}

}  // namespace keyway::store
