// The lines of a benchmark's results. Results are JSON lines: first a setup, which describes the
// machine, then a result for every instance and method. A file may contain several runs one after
// another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "instances/result.h"

namespace stowage::bench {

// Version of the protocol of docs/benchmarks/protocol.md. It increases whenever figures of two runs
// are no longer comparable.
inline constexpr int kProtocol = 2;

// The data that a reader needs to judge or repeat the figures.
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

// Returns the setup of this machine and build.
Setup this_setup(const std::string& commit);

// Returns a line about the machine and the build, for readers of a table.
std::string setup_line(const Setup& setup);

// The result of one method on one instance.
struct Record {
  std::string suite;
  std::string instance;
  std::string problem;
  std::int64_t size = 0;     // number of sequences or buffers
  std::int64_t devices = 0;  // 0 for a problem without devices
  std::string method;
  std::string kind;  // "ours" or "baseline"
  std::uint64_t seed = 0;
  std::optional<double> time_limit_s;
  std::string status;
  std::string stopped_by;
  std::optional<double> objective;  // of a verified plan, in the unit of the problem
  double bound = 0;
  std::string bound_by;
  // A bound on the plans of this method, if the method reports one; `bound` is valid for all plans
  // of the instance.
  std::optional<double> method_bound;
  std::string found_by;
  double cpu_s = 0;  // CPU seconds of the process during the solve
  double wall_s = 0;
  std::optional<double> first_s;  // wall-clock seconds until the first plan
  std::optional<double> best_s;   // wall-clock seconds until the last improvement of the plan
  std::int64_t nodes = 0;
  double memory_mib = 0;  // largest resident set of the process so far
  std::string plan;  // name of the plan's file (plan_store.h); empty if the plan was not stored

  bool operator==(const Record&) const = default;
};

// Returns, for instance, "auto 10 s", or "fast" for a method without a limit.
std::string method_title(const Record& record);

std::string to_line(const Setup& setup);
std::string to_line(const Record& record);

struct Results {
  std::vector<Setup> setups;
  std::vector<Record> records;
};

// Return all lines of a stream or a file. Errors name NAME:LINE.
Result<Results> read_results(std::istream& stream, const std::string& name);
Result<Results> load_results(const std::filesystem::path& path);

}  // namespace stowage::bench
