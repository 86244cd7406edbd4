// A reference to something that can be called: what std::function is, without owning what it calls,
// and without <functional>, which adds 14,000 lines to whoever includes it.
//
//   void plan(FunctionRef<void(int)> heard);
//   plan([&](int step) { std::cout << step; });
//
// Source: std::function_ref of C++26 (P0792).
//
// Thread safety: that of what it calls.
#pragma once

#include <type_traits>
#include <utility>

namespace stowage {

template <class Signature>
class FunctionRef;

// What is called must live as long as this is used: an argument does, until the call that it is
// given to returns.
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  FunctionRef() = default;  // nothing to call

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
