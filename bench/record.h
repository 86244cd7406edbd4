// One line of a benchmark's results, and the machine it was measured on. Results are JSON lines:
// first a setup, then a result for every instance and method; lines of several runs may stand
// behind one another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "instances/result.h"

namespace stowage::bench {

// The protocol of docs/benchmarks/protocol.md, counted up whenever figures of two runs stop being
// comparable.
inline constexpr int kProtocol = 2;

// What a reader needs to know to judge or repeat the figures.
struct Setup {
  std::string date;    // UTC, "2026-01-31"
  std::string commit;  // empty if unknown
  std::string cpu;     // name, family and model
  std::int64_t cores = 0;
  double memory_gib = 0;
  std::string system;    // kernel
  std::string compiler;  // name, version, build type
  std::string backends;  // MILP backends, the preferred one first
  int protocol = kProtocol;

  bool operator==(const Setup&) const = default;
};

// Of this machine and build.
Setup this_setup(const std::string& commit);

// A line about the machine and the build, for the reader of a table.
std::string setup_line(const Setup& setup);

// One method on one instance.
struct Record {
  std::string suite;
  std::string instance;
  std::string problem;
  std::int64_t size = 0;     // sequences or buffers
  std::int64_t devices = 0;  // 0 where there are none
  std::string method;
  std::string kind;  // "ours" or "baseline"
  std::uint64_t seed = 0;
  std::optional<double> time_limit_s;
  std::string status;
  std::string stopped_by;
  std::optional<double> objective;  // in the unit of the problem; of a verified plan
  double bound = 0;
  std::string bound_by;
  // No plan of the method can be better, if it says so; the bound is on the instance.
  std::optional<double> method_bound;
  std::string found_by;
  double cpu_s = 0;  // of the process while it solved
  double wall_s = 0;
  std::optional<double> first_s;  // wall clock until the first plan
  std::optional<double> best_s;   // until the last improvement of the plan
  std::int64_t nodes = 0;
  double memory_mib = 0;  // largest resident set of the process so far
  std::string plan;       // name of the file that holds it (plan_store.h); empty if not kept

  bool operator==(const Record&) const = default;
};

// "auto 10 s"; "fast" where there was no limit.
std::string method_title(const Record& record);

std::string to_line(const Setup& setup);
std::string to_line(const Record& record);

struct Results {
  std::vector<Setup> setups;
  std::vector<Record> records;
};

// All lines of a stream, or of a file. Errors name NAME:LINE.
Result<Results> read_results(std::istream& stream, const std::string& name);
Result<Results> load_results(const std::filesystem::path& path);

}  // namespace stowage::bench
