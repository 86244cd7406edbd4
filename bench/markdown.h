// Tables of results as Markdown, each line ending in '\n'.
//
//   std::cout << summary_table(records) << '\n' << instance_table(records);
//
// All records of a table are of one suite; best known plans and bounds are of these records.
#pragma once

#include <string>
#include <vector>

#include "bench/record.h"

namespace stowage::bench {

// A line about the machine and the build.
std::string setup_line(const Setup& setup);

// A row for each method: gaps, times, how many plans and proofs.
std::string summary_table(const std::vector<Record>& records);

// A row for each instance: best bound and plan, and every method's objective; '*' behind those that
// their own run proved optimal.
std::string instance_table(const std::vector<Record>& records);

// A row for each instance and method: objective, bound, gap, seconds to the first and to the best
// plan and to the proof, nodes.
std::string detail_table(const std::vector<Record>& records);

// A row for each length list of scatter steps, medians and ranges: the step times of the best
// homogeneous plan (`batch-ada`), of `flexsp` and of `fast` over that of the default method, the
// default method's certified gap, and the CPU time of planning.
std::string gains_table(const std::vector<Record>& records);

// A row for each run, suite and method: how results changed over versions. A row whose protocol
// (bench/README.md) differs from the latest carries its number as a footnote.
std::string history_table(const std::vector<Results>& runs);

// The suites in the order of their first record.
std::vector<std::string> suites_of(const std::vector<Record>& records);
std::vector<Record> of_suite(const std::vector<Record>& records, const std::string& suite);

}  // namespace stowage::bench
