// The files for the examples of the help and for the tests.
#pragma once

#include <string>

#include "tests/cli/process.h"

namespace stowage {

// Twelve sequences of 8 to 100 tokens on four devices, two of which hold the longest.
inline constexpr char kTinyInstance[] = R"({
  "format": "stowage/instance", "version": 1, "problem": "scatter", "name": "tiny",
  "cluster": {"devices": 4, "memory_mib": 100, "degrees": [1, 2, 4]},
  "model": {"states_mib": 20, "activation_mib_per_token": 1},
  "cost": {"quadratic_ms": 0.01, "linear_ms": 0.5, "fixed_ms": 3},
  "lengths": [100, 64, 80, 8, 16, 24, 70, 60, 50, 40, 30, 12]
}
)";

// As above, but the third sequence fits in no group: 4 devices of 80 tokens hold 320.
inline constexpr char kInfeasibleInstance[] = R"({
  "format": "stowage/instance", "version": 1, "problem": "scatter", "name": "infeasible",
  "cluster": {"devices": 4, "memory_mib": 100, "degrees": [1, 2, 4]},
  "model": {"states_mib": 20, "activation_mib_per_token": 1},
  "cost": {"quadratic_ms": 0.01, "linear_ms": 0.5, "fixed_ms": 3},
  "lengths": [100, 64, 400]
}
)";

// Measured rows: 24 of each of the degrees 1, 2 and 4. The noise is up to 1 %, and every eighth row
// is wrong by a factor of 3.
inline std::string samples_table() {
  std::string text = "degree,lengths_tokens,time_ms,peak_mib\n";
  for (int i = 0; i < 72; ++i) {
    const int degree = 1 << i % 3;
    const int sequences = 1 + i / 3 % 4 * 5;
    // tokens of each sequence
    const int tokens = degree * (200 + 137 * (i / 3 * 7 % 24)) / sequences;
    const double all = 1.0 * tokens * sequences;
    double ms = 3 + (1e-4 * tokens * all + 0.05 * all) / degree;
    if (degree > 1) ms += 4 * degree + 0.02 * all;
    ms *= 1 + 0.002 * (i * 5 % 11 - 5);
    if (i == 7) ms *= 3;
    text += std::to_string(degree) + ',';
    for (int s = 0; s < sequences; ++s) text += (s == 0 ? "" : " ") + std::to_string(tokens);
    text += ',' + std::to_string(ms) + ',' + std::to_string(2000 + 1.5 * all / degree) + '\n';
  }
  return text;
}

// A scatter instance of `sequences` lengths on 64 devices that no method finishes in seconds.
inline std::string long_instance(int sequences) {
  std::string text = R"({"format": "stowage/instance", "version": 1, "problem": "scatter",
    "name": "long", "cluster": {"devices": 64, "memory_mib": 30720,
    "degrees": [1, 2, 4, 8, 16, 32, 64]},
    "model": {"states_mib": 1822, "activation_mib_per_token": 4.48},
    "cost": {"quadratic_ms": 5.128e-6, "linear_ms": 0.1839576, "fixed_ms": 629.3563,
      "all_to_all": {"mib_per_token": 2, "mib_per_ms": {"2": 119.54, "4": 104.07, "8": 96.5,
        "16": 10.33, "32": 5.94, "64": 4.87}}},
    "lengths": [)";
  // Lengths without a pattern that a method could use; 48271 is Lehmer's multiplier.
  std::int64_t state = 1;
  for (int i = 0; i < sequences; ++i) {
    state = state * 48271 % 2147483647;
    const std::int64_t length = 64 + state % 9973 + (i % 50 == 0 ? 100'000 + state % 90'000 : 0);
    text += (i == 0 ? "" : ", ") + std::to_string(length);
  }
  return text + "]}\n";
}

// Five buffers of at most 12 bytes at once, as MiniMalloc's table; the optimum is 12.
inline constexpr char kTable[] =
    "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n";

// Solutions of the exported models of kTinyInstance and kTable in CBC's format.
inline constexpr char kTinySolution[] =
    R"(Optimal - objective value 162.84000000
      0 T_b0                       88.98                       0
      1 T_b1                       73.86                       0
      2 objective_offset               1                       0
     77 m_b0_d4_0                      1                       3
     79 A_b0_d4_0_q1                   1                      26
     80 A_b0_d4_0_q2                   1                      21
     81 A_b0_d4_0_q3                   1                   18.24
     83 A_b0_d4_0_q5                   1                    12.5
     86 A_b0_d4_0_q8                   1                    4.44
     87 A_b0_d4_0_q9                   1                    2.64
     89 A_b0_d4_0_q11                  1                    1.16
     90 y_b0                           1                       0
    165 m_b1_d4_0                      1                       3
    166 A_b1_d4_0_q0                   1                    37.5
    170 A_b1_d4_0_q4                   1                    16.5
    172 A_b1_d4_0_q6                   1                       9
    173 A_b1_d4_0_q7                   1                       6
    176 A_b1_d4_0_q10                  1                    1.86
    178 y_b1                           1                       0
)";
inline constexpr char kTableSolution[] =
    R"(Optimal - objective value 12.00000000
      0 P                              3                       4
      1 objective_offset               1                       0
      2 A_0                            0                       0
      3 A_1                            0                       0
      4 A_2                            1                       0
      5 A_3                            0                       0
      6 A_4                            2                       0
      7 z_0_2                          0                       0
      8 z_0_4                          0                       0
      9 z_1_2                          0                       0
     10 z_1_4                          0                       0
     11 z_2_4                          0                       0
     12 z_3_4                          0                       0
)";

// Returns 64 lines with lengths.
inline std::string length_list() {
  std::string text;
  for (int i = 0; i < 64; ++i) text += std::to_string(100 + i * 37 % 1000 * 9) + '\n';
  return text;
}

// Puts instance.json, plan.json, outcome.json, layout.json, layout-plan.json, lengths.txt and
// buffers.1048576.csv into the directory.
void fill_with_examples(const TempDir& dir);

}  // namespace stowage
