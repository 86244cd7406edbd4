// Converts errors of the readers and of solve() to the Python exception stowage.InputError, which
// contains all entries.
#pragma once

#include <exception>
#include <utility>
#include <vector>

#include "instances/result.h"

namespace stowage::python {

// Thrown only by the binding; the library returns errors as values.
class CodedErrors : public std::exception {
 public:
  explicit CodedErrors(std::vector<InputError> entries) : entries_(std::move(entries)) {}

  const char* what() const noexcept override { return "coded errors"; }
  const std::vector<InputError>& entries() const { return entries_; }

 private:
  std::vector<InputError> entries_;
};

// Returns the value, or throws CodedErrors.
template <class T>
T value_of(Result<T> result) {
  if (!result) throw CodedErrors(result.errors());
  return *std::move(result);
}

}  // namespace stowage::python
