// A Result holds either the value that was read or all errors: bad input is not an exception.
//
//   Result<ScatterInstance> read = read_scatter_instance(text);
//   if (!read) { for (const InputError& e : read.errors()) std::cerr << e << '\n'; }
//   else use(*read);
//
// A program that ends on bad input writes read_scatter_instance(text).value(), which throws.
//
// Thread safety: a value like a std::vector: several threads may read one, or each have its own.
#pragma once

#include <cassert>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace stowage {

// One broken rule of an input file. `code` is listed in instances/errors.md; `pointer` is a JSON
// pointer (RFC 6901) or `FILE:LINE`; `message` reads "must be ..., is ...".
struct InputError {
  std::string code;
  std::string pointer;
  std::string message;

  bool operator==(const InputError&) const = default;
};

// Returns "E205 /lengths/3: must be an integer from 1 to 9007199254740992, is -4".
inline std::string to_string(const InputError& error) {
  return error.code + ' ' + (error.pointer.empty() ? "/" : error.pointer) + ": " + error.message;
}

// Writes to_string(error). A template, so that this header includes no stream.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const InputError& error) {
  return out << to_string(error);
}

// Holds a value, or at least one error if there is no value.
template <class T>
class Result {
 public:
  Result(T value) : state_(std::move(value)) {}                         // NOLINT(*-explicit-*)
  Result(std::vector<InputError> errors) : state_(std::move(errors)) {  // NOLINT(*-explicit-*)
    assert(!std::get<1>(state_).empty());
  }
  Result(InputError error) : state_(std::vector{std::move(error)}) {}  // NOLINT(*-explicit-*)

  explicit operator bool() const { return state_.index() == 0; }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  const T* operator->() const { return &std::get<0>(state_); }
  const std::vector<InputError>& errors() const { return std::get<1>(state_); }

  // Returns the value. Throws std::runtime_error, with a line for each error, if there is none.
  const T& value() const& {
    require_value();
    return **this;
  }
  T value() && {
    require_value();
    return *std::move(*this);
  }

 private:
  void require_value() const {
    if (*this) return;
    std::string lines;
    for (const InputError& error : errors())
      lines += (lines.empty() ? "" : "\n") + to_string(error);
    throw std::runtime_error(lines);
  }

  std::variant<T, std::vector<InputError>> state_;
};

}  // namespace stowage
