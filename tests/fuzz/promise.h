// The common parts of the fuzzers: promises that must hold, errors that can be shown, and inputs
// that are two documents.
//
//   const auto [first, second] = two_documents(text);
//   if (const auto plan = read_scatter_plan(second)) require(sound(*plan), "a plan is sound");
//   else check_errors(plan);
//
// libFuzzer reports a broken promise like a crash, with the input that broke it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "instances/result.h"
#include "instances/verify.h"
#include "instances/violation.h"

namespace stowage {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

// Errors are values that can be shown; there is at least one.
template <class T>
void check_errors(const Result<T>& result) {
  require(!result.errors().empty(), "a failed read names an error");
  for (const InputError& error : result.errors()) {
    require(!error.code.empty() && !error.message.empty(), "an error has a code and a message");
    require(!to_string(error).empty(), "an error can be shown");
  }
}

// The bytes on both sides of a line "---"; without such a line both are the whole input.
struct TwoDocuments {
  std::string_view first;
  std::string_view second;
};

inline TwoDocuments two_documents(std::string_view all) {
  constexpr std::string_view kCut = "\n---\n";
  const std::size_t cut = all.find(kCut);
  if (cut == std::string_view::npos) return {all, all};
  return {all.substr(0, cut), all.substr(cut + kCut.size())};
}

// An instance and its hash must be equal after writing and reading it again.
template <class InstanceT, class Read, class Write>
void check_rewritten(const InstanceT& instance, Read read, Write write) {
  const auto again = read(write(instance));
  require(again && *again == instance, "a written instance reads back the same");
  require(instance_hash(*again) == instance_hash(instance), "and has the same hash");
}

// A plan must be equal after writing and reading it again, and the verifier must have an answer for
// it.
template <class InstanceT, class PlanT, class Read, class Write>
void check_plan(const Result<InstanceT>& instance, const Result<PlanT>& plan, Read read,
                Write write) {
  if (!plan) return check_errors(plan);
  const auto again = read(write(*plan));
  require(again && *again == *plan, "a written plan reads back the same");
  if (!instance) return;
  for (const Violation& violation : verify(*instance, *plan)) {
    require(!to_string(violation).empty(), "a violation can be shown");
  }
}

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return std::string(data, data + size);
}

}  // namespace stowage
