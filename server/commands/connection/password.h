// Password: the password that clients must give, which may change at run time.
//
// *Thread safety.* Any thread may call it.
// *Invariants.* P1: the time of a guess does not depend on how much of it is right.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "keyway/locks/base/mutex.h"

namespace keyway::server {

class Password {
 public:
  /// Empty: no password is required.
  void set(std::string text) {
    const MutexLock held(mutex_);
    text_ = std::move(text);
  }
  std::string text() const {
    const MutexLock held(mutex_);
    return text_;
  }
  bool is_asked_for() const {
    const MutexLock held(mutex_);
    return !text_.empty();
  }
  /// Any guess is right if none is required.
  bool is(std::string_view guess) const {
    const MutexLock held(mutex_);
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

  mutable Mutex mutex_;
  std::string text_ KW_GUARDED_BY(mutex_);
};

}  // namespace keyway::server
