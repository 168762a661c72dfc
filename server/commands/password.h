// Password: what clients have to give, which may change while they come.
//
// *Thread safety.* Anybody's.
// *Invariants.* P1: how long a guess takes does not tell how much of it is right.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace keyway::server {

class Password {
 public:
  /// Empty: none is asked for.
  void set(std::string text) {
    const std::lock_guard held(mutex_);
    text_ = std::move(text);
  }
  std::string text() const {
    const std::lock_guard held(mutex_);
    return text_;
  }
  bool is_asked_for() const {
    const std::lock_guard held(mutex_);
    return !text_.empty();
  }
  /// Any is, where none is asked for.
  bool is(std::string_view guess) const {
    const std::lock_guard held(mutex_);
    return text_.empty() || is_same(guess, text_);
  }

 private:
  // P1
  static bool is_same(std::string_view guess, std::string_view password) {
    unsigned different = guess.size() == password.size() ? 0 : 1;
    for (std::size_t i = 0; i < guess.size(); ++i) {
      different |= static_cast<unsigned char>(guess[i]) ^
                   static_cast<unsigned char>(password[i % password.size()]);
    }
    return different == 0;
  }

  mutable std::mutex mutex_;
  std::string text_;  // under the mutex
};

}  // namespace keyway::server
