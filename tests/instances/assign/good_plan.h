// A good plan of a step of three replicas.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/violation.h"

namespace stowage::assign_verify_test {

// Rows take 10 ms and a tenth of a millisecond per token on "two", whose pipeline has two stages,
// and 5 ms, a tenth per token and a hundredth per token^2 on "one".
inline AssignInstance three_replicas() {
  return {
      .name = "three",
      .devices = 6,
      .schemes =
          {{.name = "two", .tp = 2, .pp = 2, .linear_ms = 0.1, .fixed_ms = 10, .max_tokens = 100},
           {.name = "one",
            .tp = 1,
            .pp = 1,
            .quadratic_ms = 0.01,
            .linear_ms = 0.1,
            .fixed_ms = 5,
            .max_tokens = 60}},
      .strategies = {{.name = "mix", .replicas = {1, 2}}, {.name = "small", .replicas = {0, 6}}},
      .pad_multiple = 10,
      .lengths = {95, 60, 30, 30, 10}};
}

// On "two": rows of 20 and 16 ms, hence 36 + 20; the schedule ends after 4/3 20 + 5/3 16 = 53 1/3.
inline AssignPlan good_plan() {
  return {.name = "three",
          .instance_hash = "abc",
          .strategy = "mix",
          .loss_tokens = 225,
          .objective_ms = 56,
          .simulated_1f1b_ms = 160 / 3.0,
          .bound_ms = 55,
          .bound_by = "work",
          .replicas = {{.scheme = "two",
                        .time_ms = 56,
                        .rows = {{.sequences = {0},
                                  .tokens = 100,
                                  .loss_tokens = 95,
                                  .time_ms = 20,
                                  .cu_seqlens = {0, 100}},
                                 {.sequences = {1},
                                  .tokens = 60,
                                  .loss_tokens = 60,
                                  .time_ms = 16,
                                  .cu_seqlens = {0, 60}}}},
                       {.scheme = "one",
                        .time_ms = 30,
                        .rows = {{.sequences = {3, 2},
                                  .tokens = 60,
                                  .loss_tokens = 60,
                                  .time_ms = 29,
                                  .cu_seqlens = {0, 30, 60}},
                                 {.sequences = {4},
                                  .tokens = 10,
                                  .loss_tokens = 10,
                                  .time_ms = 7,
                                  .cu_seqlens = {0, 10}}}},
                       {.scheme = "one"}}};
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

}  // namespace stowage::assign_verify_test
