#include "keyway/server/commands/keys/glob.h"

#include "keyway/locks/base/words.h"
#include "keyway/locks/fabric/time_slice.h"

#include <utility>

namespace keyway::server {
namespace {

/// So that a loop over keys which reads the clock after kSliceKeys of them does at most the steps
/// of kSliceBytes without a turn, though it has matches that are shorter than this.
constexpr std::size_t kStepsOfSlice = fabric::kSliceBytes / fabric::kSliceKeys;

/// Characters compare as Redis' do: as signed ones.
class Matcher {
 public:
  Matcher(std::string_view pattern, bool any_case) : pattern_(pattern), any_case_(any_case) {}

  bool at_end() const { return at_ == pattern_.size(); }
  std::size_t at() const { return at_; }
  void go_to(std::size_t at) { at_ = at; }
  /// Passes over stars; whether there was one.
  bool skip_stars() {
    const std::size_t first = at_;
    for (; !at_end() && pattern_[at_] == '*'; ++at_) count_step();
    return at_ != first;
  }

  /// Whether `c` fits what stands for one byte here, which is passed over.
  bool takes(char c) {
    count_step();
    if (pattern_[at_] == '?') {
      ++at_;
      return true;
    }
    if (pattern_[at_] == '[') return takes_of_class(c);
    if (pattern_[at_] == '\\' && at_ + 1 < pattern_.size()) ++at_;
    return cased(pattern_[at_++]) == cased(c);
  }

 private:
  signed char cased(char c) const { return static_cast<signed char>(any_case_ ? lower(c) : c); }

  /// A pattern and a key of 32 KiB each can take 10^9 steps: others have their turn meanwhile.
  void count_step() {
    if (++steps_ % kStepsOfSlice == 0) fabric::this_fiber::yield_if_due();
  }

  std::size_t left() const { return pattern_.size() - at_; }

  /// A class that no bracket closes ends with the pattern.
  bool takes_of_class(char c) {
    ++at_;
    const bool inverted = !at_end() && pattern_[at_] == '^';
    if (inverted) ++at_;
    bool found = false;
    while (!at_end() && pattern_[at_] != ']') found |= takes_of_member(c);
    if (!at_end()) ++at_;
    return found != inverted;
  }

  bool takes_of_member(char c) {
    count_step();
    const char first = pattern_[at_];
    if (first == '\\' && left() >= 2) {  // not folded: nor is it in Redis
      at_ += 2;
      return pattern_[at_ - 1] == c;
    }
    if (left() >= 3 && pattern_[at_ + 1] == '-') {
      auto low = static_cast<signed char>(first);
      auto high = static_cast<signed char>(pattern_[at_ + 2]);
      if (low > high) std::swap(low, high);
      at_ += 3;
      return cased(c) >= cased(static_cast<char>(low)) &&
             cased(c) <= cased(static_cast<char>(high));
    }
    ++at_;
    return cased(first) == cased(c);
  }

  std::string_view pattern_;
  bool any_case_;
  std::size_t at_ = 0;
  std::size_t steps_ = 0;
};

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text, bool any_case) {
  Matcher matcher(pattern, any_case);
  bool starred = false;
  std::size_t after_star = 0;  // in the pattern
  std::size_t retry = 0;       // place in the text at which the rest of the pattern was last tried
  std::size_t i = 0;
  while (true) {
    if (matcher.skip_stars()) {
      starred = true;
      after_star = matcher.at();
      retry = i;
    }
    if (matcher.at_end() && (i == text.size() || (starred && after_star == pattern.size()))) {
      return true;
    }
    if (!matcher.at_end() && i < text.size() && matcher.takes(text[i])) {
      ++i;
      continue;
    }
    if (!starred || retry >= text.size()) return false;
    i = ++retry;
    matcher.go_to(after_star);
  }
}

}  // namespace keyway::server
