// The targets of the kernels on one core and on two, from the timings of one run.
//
//   std::cout << target_table(kernel_targets(timings, {"v2", "v3", "v4"}));
//
// Timings are named LEVEL/multiply-add, LEVEL/sgemm/SIZE, LEVEL/forward/DIM/LENGTH,
// LEVEL/backward/..., LEVEL/decode/DIM, LEVEL/forward/THREADS threads, LEVEL/backward/one kv
// head/THREADS threads, and triad. A pass is set against the fastest
// sgemm of its level; at level v3, whose targets are meant so, against multiply-adds in registers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/kernels/timings.h"
#include "instances/json/writer.h"

namespace stowage::bench {

// What the kernels reach beside what they should.
struct TargetRow {
  std::string group;             // rows of one group stand together: "v4", "two threads"
  std::string item;              // what was measured
  std::string measure;           // what the numbers are: "share of sgemm", "speed-up", "GFLOP/s"
  std::optional<double> target;  // none: for information
  bool at_most = false;          // the target is an upper limit
  bool percent = true;           // numbers are shares
  double best = 0;               // of the fastest repetitions
  double median = 0;
  std::string detail;

  // Judged by the fastest repetitions: whatever else runs on a machine only adds to a time.
  bool met() const { return target && (at_most ? best <= *target : best >= *target); }
};

inline const std::vector<int> kSgemmSizes = {256, 768, 1024};
inline const std::vector<int> kLongLengths = {1024, 4096};
inline constexpr int kRetainedKeys = 20000;                        // that one query reads
inline const std::vector<int> kShortLengths = {32, 64, 128, 256};  // of packs of 4096 tokens

// `levels` from the narrowest to the widest; the widest has most targets.
std::vector<TargetRow> kernel_targets(const Timings& timings,
                                      const std::vector<std::string>& levels);

// As Markdown, one row for each target.
std::string target_table(const std::vector<TargetRow>& rows);

// An array under `key`; "met" is null where there is no target.
void write_rows(JsonWriter& json, const std::string& key, const std::vector<TargetRow>& rows);

}  // namespace stowage::bench
