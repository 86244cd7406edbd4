// A non-owning reference to a callable. It replaces std::function without including <functional>,
// which would add 14,000 lines to every including file.
//
//   void plan(FunctionRef<void(int)> heard);
//   plan([&](int step) { std::cout << step; });
//
// Source: std::function_ref of C++26 (P0792).
//
// Thread safety: that of the callable.
#pragma once

#include <type_traits>
#include <utility>

namespace stowage {

template <class Signature>
class FunctionRef;

// The callable must outlive this. A temporary passed as an argument lives until the called function
// returns.
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  FunctionRef() = default;  // refers to no callable

  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
           std::is_invocable_r_v<Result, F&, Arguments...>)
      FunctionRef(F&& called)  // NOLINT(*-explicit-*, *-forwarding-reference-*)
      : called_(&called), call_([](const void* object, Arguments... arguments) -> Result {
          using Called = std::remove_reference_t<F>;
          auto& own = *static_cast<Called*>(const_cast<void*>(object));
          return own(std::forward<Arguments>(arguments)...);
        }) {}

  explicit operator bool() const { return call_ != nullptr; }
  Result operator()(Arguments... arguments) const {
    return call_(called_, std::forward<Arguments>(arguments)...);
  }

 private:
  const void* called_ = nullptr;
  Result (*call_)(const void*, Arguments...) = nullptr;
};

}  // namespace stowage
