// Mutex, MutexLock, CondVar: the standard ones, which clang's thread-safety analysis understands.
//
// *What.* The standard library's types carry no annotations, so clang cannot follow which locks are
// held. A member names the mutex that guards it, and a function names the mutex that its caller
// holds:
//
//   class Inbox {
//    public:
//     void put(std::string letter) {
//       const MutexLock held(mutex_);
//       letters_.push_back(std::move(letter));
//       count_held();
//     }
//
//    private:
//     void count_held() KW_REQUIRES(mutex_);
//
//     Mutex mutex_;
//     std::vector<std::string> letters_ KW_GUARDED_BY(mutex_);
//   };
//
// `./keyway test --all` compiles with -Werror=thread-safety; other compilers see no annotation. The
// analysis treats a lambda as a separate function: wait in a loop, not with a predicate.
// *Thread safety.* As the standard types.
// *Source.* Clang 14, Thread Safety Analysis.
// *Thread safety.* As the standard types.
// *Source.* Clang 14, Thread Safety Analysis.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define KW_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define KW_THREAD_ATTRIBUTE(x)
#endif
#define KW_CAPABILITY(name) KW_THREAD_ATTRIBUTE(capability(name))
#define KW_SCOPED_CAPABILITY KW_THREAD_ATTRIBUTE(scoped_lockable)
/// A member that is accessed only with the mutex held.
#define KW_GUARDED_BY(mutex) KW_THREAD_ATTRIBUTE(guarded_by(mutex))
/// A function that requires its caller to hold the mutex.
#define KW_REQUIRES(mutex) KW_THREAD_ATTRIBUTE(requires_capability(mutex))
#define KW_ACQUIRE(...) KW_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define KW_RELEASE(...) KW_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define KW_TRY_ACQUIRE(...) KW_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))

namespace keyway {

class KW_CAPABILITY("mutex") Mutex {
 public:
  void lock() KW_ACQUIRE() { mutex_.lock(); }
  void unlock() KW_RELEASE() { mutex_.unlock(); }
  bool try_lock() KW_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

/// Holds a mutex until the end of its scope.
class KW_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) KW_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  /// Adopts a mutex that try_lock() has locked.
  MutexLock(Mutex& mutex, std::adopt_lock_t) KW_REQUIRES(mutex) : mutex_(mutex) {}
  ~MutexLock() KW_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  /// Releases the mutex and waits for a notification; may also wake spuriously.
  void wait(Mutex& mutex) KW_REQUIRES(mutex) {
    std::unique_lock held(mutex.mutex_, std::adopt_lock);
    changed_.wait(held);
    held.release();
  }
  /// The same, but at most until `end`; false when that time has passed.
  template <class Clock, class Span>
  bool wait_until(Mutex& mutex, std::chrono::time_point<Clock, Span> end) KW_REQUIRES(mutex) {
    std::unique_lock held(mutex.mutex_, std::adopt_lock);
    const std::cv_status woken = changed_.wait_until(held, end);
    held.release();
    return woken == std::cv_status::no_timeout;
  }
  void notify_one() { changed_.notify_one(); }
  void notify_all() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace keyway
