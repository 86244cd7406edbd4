// The list of errors that an execution found, as readable sentences.
//
//   Problems problems;
//   problems.add("sequence 12 was never computed");
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace stowage::kernels {

// Keeps the first 100 sentences: an invalid plan of 100,000 sequences should not produce 100,000
// lines.
class Problems {
 public:
  void add(std::string problem) {
    if (list_.size() < kKept) {
      list_.push_back(std::move(problem));
    } else {
      ++omitted_;
    }
  }
  const std::vector<std::string>& list() const { return list_; }
  std::int64_t omitted() const { return omitted_; }

 private:
  static constexpr std::size_t kKept = 100;
  std::vector<std::string> list_;
  std::int64_t omitted_ = 0;
};

}  // namespace stowage::kernels
