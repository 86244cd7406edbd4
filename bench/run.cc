// stowage_bench: runs methods on the instances of a suite and writes one result line each to
// stdout.
//
//   stowage_bench bench/suite.json scatter fast auto:10 flexsp > results.jsonl
//   stowage_bench bench/suite.json assign --part tune --write FOLDER
//
// A method is NAME or NAME:SECONDS. All limits are CPU time, so that other load on the machine does
// not shorten a search. With --solver its name in the results ends in "/glpk" or "/cbc". The outer
// loop runs over instances and the inner loop over methods, so that compared results are measured
// close together. Methods run one at a time: times are those of one core.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "bench/part.h"
#include "bench/plan_store.h"
#include "bench/record.h"
#include "bench/suite.h"
#include "instances/documents.h"
#include "instances/families.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/json/json.h"
#include "solvers/solve.h"

namespace stowage::bench {
namespace {

struct Asked {
  std::string name;
  double seconds = kInfinity;
};

// Parses, for instance, "auto:10".
Asked parse_method(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return {.name = text};
  return {.name = text.substr(0, colon), .seconds = std::stod(text.substr(colon + 1))};
}

double cpu_seconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double largest_memory_mib() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void time_plans(const std::vector<Improvement>& improvements, Record& record) {
  std::optional<double> best;
  for (const Improvement& step : improvements) {
    if (!step.objective || (best && !(*step.objective < *best))) continue;
    best = step.objective;
    if (!record.first_s) record.first_s = step.seconds;
    record.best_s = step.seconds;
  }
}

// Computes the objective of a plan that was made for another objective. The plan then has no bound.
void revalue(const ScatterInstance& instance, Outcome& outcome) {
  auto& plan = std::get<ScatterPlan>(*outcome.plan);
  Ms sum = 0;
  Ms longest = 0;
  for (const ScatterMicroBatch& batch : plan.micro_batches) {
    sum += batch.makespan_ms;
    longest = std::max(longest, batch.makespan_ms);
  }
  plan.name = instance.name;
  plan.instance_hash = instance_hash(instance);
  plan.objective_ms = step_ms(instance, sum, longest);
  state_bound(plan, 0, "");
  outcome.status = Status::feasible;
  outcome.objective = plan.objective_ms;
  outcome.bound = 0;
  outcome.bound_by = "none";
  outcome.improvements.clear();
}

struct Measured {
  Record record;
  std::optional<Plan> plan;
};

Measured measure(const SuiteEntry& entry, const Method& method, const Asked& asked,
                 SolveOptions options) {
  options.method = method.name;
  Record record{.instance = entry.name,
                .method = method.name,
                .kind = method.kind == MethodKind::ours ? "ours" : "baseline",
                .seed = options.seed};
  std::visit(
      [&record](const auto& instance) {
        using Family = FamilyOf<decltype(instance)>;
        record.problem = Family::name;
        record.size = static_cast<std::int64_t>(Family::size(instance));
        record.devices = Family::devices(instance);
      },
      entry.instance);
  if (asked.seconds < kInfinity) record.time_limit_s = asked.seconds;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const double cpu = cpu_seconds();
  Budget budget({.time_limit_s = asked.seconds, .clock = BudgetClock::cpu});
  Outcome outcome =
      solve(entry.planned ? Instance(*entry.planned) : entry.instance, options, budget);
  record.cpu_s = cpu_seconds() - cpu;
  if (entry.planned && outcome.plan) revalue(std::get<ScatterInstance>(entry.instance), outcome);
  record.wall_s = std::chrono::duration<double>(Clock::now() - start).count();
  record.memory_mib = largest_memory_mib();
  record.status = to_string(outcome.status);
  record.stopped_by = to_string(outcome.stopped_by);
  record.objective = outcome.objective;
  record.bound = outcome.bound;
  record.bound_by = outcome.bound_by;
  record.method_bound = outcome.method_bound;
  record.found_by = outcome.found_by;
  record.nodes = outcome.nodes;
  time_plans(outcome.improvements, record);
  return {std::move(record), std::move(outcome.plan)};
}

void write_entry(const std::filesystem::path& folder, const SuiteEntry& entry) {
  std::filesystem::create_directories(folder);
  std::ofstream out(folder / (entry.name + ".json"));
  out << write_instance(entry.instance);
  if (!out.flush()) throw std::runtime_error(folder.string() + " cannot be written to");
}

int run(int argc, char** argv) {
  CLI::App app("Runs methods on the instances of a benchmark suite; JSON lines on stdout");
  std::string file;
  std::string suite;
  std::vector<std::string> texts;
  std::string only;
  std::string part;
  std::string commit;
  std::string solver;
  std::string plans;
  std::string instances;
  double milp_seconds = 10;
  std::uint64_t seed = 0;
  app.add_option("SUITE_FILE", file, "bench/suite.json")->required();
  app.add_option("SUITE", suite, "One of its suites")->required();
  app.add_option("METHOD", texts, "NAME or NAME:SECONDS");
  app.add_option("--only", only, "Instances whose name contains this");
  app.add_option("--part", part, "The instances of this part, tune or report; default both")
      ->check(CLI::IsMember({"tune", "report"}));
  app.add_option("--milp-limit", milp_seconds, "Seconds of each MILP of a baseline; default 10");
  app.add_option("--solver", solver, "MILP backend; default the first that is built in");
  app.add_option("--seed", seed, "Seed of every method; default 0");
  app.add_option("--plans", plans, "Directory to keep every plan in");
  app.add_option("--write", instances,
                 "Directory to write the instances to as NAME.json; no method runs");
  app.add_option("--commit", commit, "What the setup says was measured");
  CLI11_PARSE(app, argc, argv);

  SolveOptions options{.seed = seed, .milp_seconds = milp_seconds};
  for (const MilpBackend backend : built_backends()) {
    if (name(backend) == solver) options.backend = backend;
  }
  if (!solver.empty() && !options.backend) {
    std::cerr << "this build has no '" << solver << "'\n";
    return 2;
  }
  const Result<std::vector<SuiteEntry>> entries = read_suite(file, suite);
  if (!entries) {
    for (const InputError& error : entries.errors()) std::cerr << to_string(error) << '\n';
    return 2;
  }
  if (texts.empty() == instances.empty()) {
    std::cerr << "give methods, or --write DIRECTORY without methods\n";
    return 2;
  }
  if (instances.empty()) std::cout << to_line(this_setup(commit)) << std::flush;
  for (const SuiteEntry& entry : *entries) {
    if (entry.name.find(only) == std::string::npos) continue;
    if (!part.empty() && to_string(part_of(entry.name)) != part) continue;
    if (!instances.empty()) {
      write_entry(instances, entry);
      continue;
    }
    const std::vector<Method> known = methods(entry.instance);
    for (const std::string& text : texts) {
      const Asked asked = parse_method(text);
      const auto method = std::ranges::find(known, asked.name, &Method::name);
      if (method == known.end()) {
        std::cerr << entry.name << " has no method '" << asked.name << "'\n";
        return 2;
      }
      std::cerr << entry.name << "  " << text << std::flush;
      auto [record, plan] = measure(entry, *method, asked, options);
      record.suite = suite;
      if (!solver.empty()) record.method += '/' + solver;
      if (plan && !plans.empty()) record.plan = store_plan(plans, record, *plan);
      std::cout << to_line(record) << std::flush;
      std::cerr << "  " << record.cpu_s << " s\n";
    }
  }
  return 0;
}

}  // namespace
}  // namespace stowage::bench

int main(int argc, char** argv) {
  try {
    return stowage::bench::run(argc, argv);
  } catch (const std::exception& failure) {
    std::cerr << "stowage_bench: " << failure.what() << '\n';
    return 70;
  }
}
