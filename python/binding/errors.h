// Errors on their way to Python: what the readers and solve() complain of becomes one exception
// with all of its entries, stowage.InputError.
#pragma once

#include <exception>
#include <utility>
#include <vector>

#include "instances/result.h"

namespace stowage::python {

// Thrown by the binding alone; the library returns errors as values.
class CodedErrors : public std::exception {
 public:
  explicit CodedErrors(std::vector<InputError> entries) : entries_(std::move(entries)) {}

  const char* what() const noexcept override { return "coded errors"; }
  const std::vector<InputError>& entries() const { return entries_; }

 private:
  std::vector<InputError> entries_;
};

// The value, or the exception.
template <class T>
T value_of(Result<T> result) {
  if (!result) throw CodedErrors(result.errors());
  return *std::move(result);
}

}  // namespace stowage::python
