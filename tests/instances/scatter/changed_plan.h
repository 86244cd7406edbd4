// A good plan of a step of six sequences, and what a change of it breaks.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/violation.h"

namespace stowage::scatter_verify_test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Eight devices of 100 tokens. A group of degree d costs 10 + (linear 1 * tokens) / d ms and, above
// one rank, an exchange of tokens / (d * 2) ms: every time below is checked by hand.
inline ScatterInstance eight_devices() {
  return {.name = "eight",
          .cluster = {.devices = 8, .memory_mib = 120, .degrees = {1, 2, 4, 8}},
          .model = {.states_mib = 20, .activation_mib_per_token = 1},
          .cost = {.linear_ms = 1,
                   .fixed_ms = 10,
                   .all_to_all = {.mib_per_token = 1,
                                  .mib_per_ms = {{2, 2}, {4, 2}, {8, 2}},
                                  .latency_ms = {{4, 2}}}},
          .pad_multiple = 8,
          .lengths = {50, 100, 200, 390, 41, 8}};
}

// First micro-batch: 390 (padded 392) on ranks 0-3, 200 on ranks 4-5, 50 + 41 (56 + 48) on 6-7.
// Second: 100 (104) on ranks 0-1, 8 on rank 2. Two devices of 100 tokens hold 200 exactly.
inline ScatterPlan good_plan() {
  const auto group = [](int degree, int first, std::vector<std::int64_t> ids, Tokens tokens,
                        Ms time, std::vector<std::int64_t> cu) {
    return ScatterGroup{.degree = degree,
                        .first_rank = first,
                        .sequences = std::move(ids),
                        .tokens = tokens,
                        .time_ms = time,
                        .cu_seqlens = std::move(cu)};
  };
  return {.name = "eight",
          .instance_hash = "abc",
          .objective_ms = 248,
          .bound_ms = 200,
          .bound_by = "area",
          .micro_batches = {{.makespan_ms = 160,
                             .groups = {group(4, 0, {3}, 392, 12 + 98 + 49, {0, 392}),
                                        group(2, 4, {2}, 200, 10 + 100 + 50, {0, 200}),
                                        group(2, 6, {0, 4}, 104, 10 + 52 + 26, {0, 56, 104})}},
                            {.makespan_ms = 88,
                             .groups = {group(2, 0, {1}, 104, 10 + 52 + 26, {0, 104}),
                                        group(1, 2, {5}, 8, 10 + 8, {0, 8})}}}};
}

inline std::set<std::string> broken_rules(const std::vector<Violation>& violations) {
  std::set<std::string> rules;
  for (const Violation& violation : violations) rules.insert(violation.rule);
  return rules;
}

inline std::string all_of(const std::vector<Violation>& violations) {
  std::string lines;
  for (const Violation& violation : violations) lines += to_string(violation) + '\n';
  return lines;
}

struct Case {
  std::string name;
  std::set<std::string> rules;  // exactly these are broken; empty: still a valid plan
  std::function<void(ScatterInstance&, ScatterPlan&)> change;
};

inline void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

inline ScatterGroup& group_of(ScatterPlan& plan, std::size_t m, std::size_t g) {
  return plan.micro_batches.at(m).groups.at(g);
}

using I = ScatterInstance;

using P = ScatterPlan;

}  // namespace stowage::scatter_verify_test
