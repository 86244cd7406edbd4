// What the kernels reach beside what they should: one row for each target, as Markdown and JSON.
//
//   std::vector<TargetRow> rows;
//   rows.push_back({.item = "forward, D 64", .measure = "share of sgemm", .target = 0.8,
//                   .best = 0.83, .median = 0.81, .detail = "195 of 234 GFLOP/s"});
//   std::cout << target_table(rows);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instances/json/writer.h"

namespace stowage::bench {

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

std::string target_table(const std::vector<TargetRow>& rows);

// An array under `key`; "met" is null where there is no target.
void write_rows(JsonWriter& json, const std::string& key, const std::vector<TargetRow>& rows);

}  // namespace stowage::bench
