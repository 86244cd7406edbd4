// Collects the violations of one plan, by rule: spelled out up to a limit, counted beyond it.
//
// A plan with a million wrong sequences must cost neither a million strings nor a million lines, so
// a violation is described by a function that is called only if its text will be kept.
// Not installed: the verifiers of the families share it.
//
//   ViolationList found(kRules);   // std::span<const std::string_view>
//   found.add(kCapacity, [&] { return Description{where, have, need}; });
//   return std::move(found).take();
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "instances/violation.h"

namespace stowage {

inline std::string text(std::integral auto value) { return std::to_string(value); }

// Returns the shortest decimal that reads back as the same double; "inf" and "nan" for those
// values.
inline std::string text(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

struct Description {
  std::string where;
  std::string have;
  std::string need;
};

class ViolationList {
 public:
  // `rules` must outlive the list; `rule` below is an index into it.
  explicit ViolationList(std::span<const std::string_view> rules) : rules_(rules) {
    kept_.resize(rules.size());
    count_.resize(rules.size());
  }

  template <class Describe>
  void add(std::size_t rule, Describe describe) {
    if (++count_[rule] > static_cast<std::int64_t>(kMaxViolationsPerRule)) return;
    Description text = describe();
    kept_[rule].push_back({std::string(rules_[rule]), std::move(text.where), std::move(text.have),
                           std::move(text.need)});
  }

  // Returns the number of violations that were added.
  std::int64_t total() const {
    return std::accumulate(count_.begin(), count_.end(), std::int64_t{0});
  }

  // Returns all violations, by rule in the order of the rules, and then in the order of discovery.
  std::vector<Violation> take() && {
    std::vector<Violation> all;
    for (std::size_t rule = 0; rule < rules_.size(); ++rule) {
      for (Violation& violation : kept_[rule]) all.push_back(std::move(violation));
      const auto more = count_[rule] - static_cast<std::int64_t>(kMaxViolationsPerRule);
      if (more > 0) {
        all.push_back({.rule = std::string(rules_[rule]),
                       .where = {},
                       .have = "and " + std::to_string(more) + " more",
                       .need = {},
                       .count = more});
      }
    }
    return all;
  }

 private:
  std::span<const std::string_view> rules_;
  std::vector<std::vector<Violation>> kept_;
  std::vector<std::int64_t> count_;
};

}  // namespace stowage
