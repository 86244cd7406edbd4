// The targets of the kernels on one core and on two, from the timings of one run.
//
//   std::cout << target_table(kernel_targets(timings, {"v2", "v3", "v4"}));
//
// Timings are named LEVEL/multiply-add, LEVEL/sgemm/SIZE, LEVEL/forward/DIM/LENGTH,
// LEVEL/backward/..., LEVEL/decode/DIM, LEVEL/forward/THREADS threads, LEVEL/backward/one kv
// head/THREADS threads, and triad. A pass is compared with the fastest sgemm of its level. At level
// v3 it is compared with multiply-adds in registers, as its targets are defined that way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/kernels/timings.h"
#include "instances/json/writer.h"

namespace stowage::bench {

// A measured value and its target.
struct TargetRow {
  std::string group;             // name of a group of consecutive rows: "v4", "two threads"
  std::string item;              // name of the measurement
  std::string measure;           // quantity: "share of sgemm", "speed-up", "GFLOP/s"
  std::optional<double> target;  // nullopt: a row without a target
  bool at_most = false;          // true if the target is an upper limit
  bool percent = true;           // true if the numbers are shares
  double best = 0;               // value of the fastest repetitions
  double median = 0;
  std::string detail;

  // Returns whether the fastest repetitions reach the target. Other load on the machine only
  // increases times, so the fastest repetition is the least disturbed.
  bool met() const { return target && (at_most ? best <= *target : best >= *target); }
};

inline const std::vector<int> kSgemmSizes = {256, 768, 1024};
inline const std::vector<int> kLongLengths = {1024, 4096};
inline constexpr int kRetainedKeys = 20000;  // keys that one query reads
// lengths in packs of 4096 tokens
inline const std::vector<int> kShortLengths = {32, 64, 128, 256};

// Returns the rows. `levels` is ordered from the narrowest to the widest; the widest level has the
// most targets.
std::vector<TargetRow> kernel_targets(const Timings& timings,
                                      const std::vector<std::string>& levels);

// Returns a Markdown table with one row per target.
std::string target_table(const std::vector<TargetRow>& rows);

// Writes an array under `key`; "met" is null without a target.
void write_rows(JsonWriter& json, const std::string& key, const std::vector<TargetRow>& rows);

}  // namespace stowage::bench
