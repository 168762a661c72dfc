// FunctionRef: a reference to a function that is called only during the call that receives it.
//
// *What.* A reference to a callable, for interfaces that are compiled once. Unlike std::function it
// copies nothing and never allocates; so it must not outlive the callable.
// *Thread safety.* A value; the callable's own rules hold.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace keyway {

template <class Signature>
class FunctionRef;

template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
           std::is_invocable_r_v<R, F&, Args...>)
      FunctionRef(F&& callable)  // implicit, as in std::function
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace keyway
