// stowage_bench_kernels: measures the speed of the kernels relative to the machine's peaks in the
// same run.
//
//   stowage_bench_kernels --repetitions 9 --json kernels.json > kernels.md
//
// Google Benchmark runs all pieces in random order, repetition by repetition, so that a slow phase
// of the machine affects all of them. The time is the CPU time of the pinned thread. The table
// compares the fastest repetitions, and the medians.
#include <benchmark/benchmark.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <thread>

#include "bench/kernels/environment.h"
#include "bench/kernels/kernel_targets.h"
#include "bench/kernels/timings.h"
#include "bench/kernels/workloads.h"
#include "bench/record.h"
#include "kernels/attention/simd/isa.h"
#include "kernels/attention/simd/table.h"
#include "kernels/block/operation/gemm.h"
#include "kernels/block/synthetic.h"

namespace stowage::bench {
namespace {

constexpr int kThreads = 2;

// Pins the process to its last `count` cores, since the system prefers the first cores for its own
// work.
void use_cores(int count) {
  static const cpu_set_t all = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    return set;
  }();
  cpu_set_t some;
  CPU_ZERO(&some);
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && count > 0; --cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    CPU_SET(cpu, &some);
    --count;
  }
  sched_setaffinity(0, sizeof some, &some);
}

// Stores every repetition and prints nothing, because stdout is reserved for the table.
class Collector : public benchmark::BenchmarkReporter {
 public:
  explicit Collector(Timings& timings) : timings_(timings) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred || run.iterations == 0) continue;
      const double seconds = run.real_accumulated_time / static_cast<double>(run.iterations);
      timings_.add(run.run_name.function_name, run.counters.at("work").value, seconds);
      std::cerr << run.run_name.function_name << "  "
                << 1e-9 * run.counters.at("work").value / seconds << "\n";
    }
  }

 private:
  Timings& timings_;
};

double thread_cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// An empty `level` keeps the selected level. `run` returns the seconds of the measurement, or 0 to
// use the thread's CPU time.
template <class Work>
void add(const std::string& name, const std::string& level, int cores, double work, Work run) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    if (!level.empty()) kernels::use_isa(level);
    use_cores(cores);
    for ([[maybe_unused]] const auto _ : state) {
      const double start = thread_cpu_seconds();
      double seconds = run();
      if (seconds == 0) seconds = thread_cpu_seconds() - start;
      state.SetIterationTime(seconds);
    }
    state.counters["work"] = work;
  })->UseManualTime();
}

void add_sgemm(const std::string& level, const std::string& kind, std::int64_t n) {
  struct Square {
    std::vector<float> a, b, c;
  };
  const auto square = std::make_shared<Square>();
  const auto size = static_cast<std::size_t>(n * n);
  square->a.resize(size);
  square->b.resize(size);
  square->c.resize(size);
  kernels::fill_tokens({.seed = 1}, 1, 0, n, square->a);
  kernels::fill_tokens({.seed = 1}, 2, 0, n, square->b);
  add(level + "/sgemm" + kind + '/' + std::to_string(n), level, 1, 2.0 * n * n * n, [=] {
    const kernels::MatrixView a = kernels::rows(square->a.data(), n);
    const kernels::MatrixView b = kernels::rows(square->b.data(), n);
    kernels::gemm(n, n, n, kind == "_tn" ? kernels::transposed(a) : a,
                  kind == "_nt" ? kernels::transposed(b) : b, square->c.data(), n,
                  kernels::Update::assign);
    return 0.0;
  });
}

void add_attention(const std::string& level, const PackOf& pack) {
  const auto work = std::make_shared<AttentionWork>(pack);
  work->forward();  // backward reads its results
  const std::string shape = std::to_string(pack.dim) + '/' + std::to_string(pack.length);
  add(level + "/forward/" + shape, level, 1, pack.forward_flop(), [=] {
    work->forward();
    return 0.0;
  });
  add(level + "/backward/" + shape, level, 1, pack.backward_flop(), [=] {
    work->backward();
    return 0.0;
  });
}

// Threads claim units of work dynamically. If another process delays one thread, the other thread
// does more than half of the work. So the fastest of several runs is the least disturbed.
template <class Run>
double undisturbed(Run run) {
  double least = run();
  for (int again = 1; again < 6; ++again) least = std::min(least, run());
  return least;
}

void add_threads(const std::string& level) {
  const PackOf pack{.length = 2048, .tokens = 2048, .dim = 64, .heads = 8};
  const auto work = std::make_shared<AttentionWork>(pack);
  work->forward();
  for (const int threads : {1, kThreads}) {
    const std::string name = "/" + std::to_string(threads) + " threads";
    add(level + "/forward" + name, level, threads, pack.forward_flop(),
        [=] { return undisturbed([&] { return work->forward_on(threads); }); });
    add(level + "/backward" + name, level, threads, pack.backward_flop(),
        [=] { return undisturbed([&] { return work->backward_on(threads); }); });
  }
  const PackOf grouped{.length = 4096, .tokens = 4096, .dim = 64, .heads = 8, .kv_heads = 1};
  const auto one = std::make_shared<AttentionWork>(grouped);
  one->forward();
  for (const int threads : {1, kThreads}) {
    add(level + "/backward/one kv head/" + std::to_string(threads) + " threads", level, threads,
        grouped.backward_flop(),
        [=] { return undisturbed([&] { return one->backward_on(threads); }); });
  }
}

void add_level(const std::string& level) {
  kernels::use_isa(level);
  add(level + "/multiply-add", level, 1, 2400.0 * kernels::simd_table().lanes * 4000, [] {
    benchmark::DoNotOptimize(kernels::simd_table().multiply_add(4000));
    return 0.0;
  });
  for (const int n : kSgemmSizes) add_sgemm(level, "", n);
  for (const char* kind : {"_nt", "_tn"}) add_sgemm(level, kind, 768);
  for (const int dim : {64, 128}) {
    for (const int length : kLongLengths) {
      add_attention(level, {.length = length, .tokens = length, .dim = dim, .heads = 1});
    }
    for (const int length : kShortLengths) {
      add_attention(level, {.length = length, .tokens = 4096, .dim = dim, .heads = 1});
    }
  }
}

// All levels read the same keys.
void add_decode(const std::vector<std::string>& levels) {
  for (const int dim : {64, 128}) {
    const auto decode = std::make_shared<DecodeWork>(kRetainedKeys, dim);
    for (const std::string& level : levels) {
      add(level + "/decode/" + std::to_string(dim), level, 1, decode->bytes(), [=] {
        decode->run();
        return 0.0;
      });
    }
  }
}

void write_json(const std::string& file, const Setup& setup, const std::string& load_before,
                const std::vector<TargetRow>& rows, const Timings& timings) {
  JsonWriter json;
  json.begin_object();
  json.text("format", "stowage/kernel-bench");
  json.integer("version", 1);
  json.text("date", setup.date);
  json.text("commit", setup.commit);
  json.text("cpu", setup.cpu);
  json.integer("cores", setup.cores);
  json.text("system", setup.system);
  json.text("compiler", setup.compiler);
  json.text("load", load_before);
  json.key("environment");
  json.begin_array();
  for (const std::string& variable : environment()) json.text(variable);
  json.end_array();
  write_rows(json, "rows", rows);
  json.key("timings");
  json.begin_array();
  for (const auto& [name, timing] : timings.all()) {
    json.begin_object(JsonWriter::Layout::line);
    json.text("name", name);
    json.number("work", timing.work);
    json.key("seconds");
    json.begin_array();
    for (const double seconds : timing.seconds) json.number(seconds);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  std::ofstream(file) << json.take();
}

int run(int argc, char** argv) {
  CLI::App app("Times the kernels against the peaks of the machine; Markdown on stdout");
  int repetitions = 9;
  double seconds = 0.05;
  std::string json, commit, only;
  std::vector<std::string> levels = kernels::isa_levels();
  app.add_option("--repetitions", repetitions, "Of each piece; default 9");
  app.add_option("--seconds", seconds, "Of each repetition; default 0.05");
  app.add_option("--levels", levels, "Instruction sets, the narrowest first; default all");
  app.add_option("--only", only, "Pieces whose name contains this");
  app.add_option("--json", json, "Write rows and all repetitions to this file");
  app.add_option("--commit", commit, "What the setup says was measured");
  CLI11_PARSE(app, argc, argv);
  for (const std::string& level : levels) {
    if (kernels::use_isa(level)) continue;
    std::cerr << "this machine has no '" << level << "'\n";
    return 2;
  }
  if (levels.empty()) {
    std::cerr << kernels::isa_problem() << '\n';
    return 2;
  }
  const auto triad = std::make_shared<Triad>();
  add("triad", "", 1, triad->bytes(), [=] {
    triad->run();
    return 0.0;
  });
  for (const std::string& level : levels) add_level(level);
  add_decode(levels);
  if (std::thread::hardware_concurrency() >= kThreads) add_threads(levels.back());

  std::vector<std::string> flags = {"stowage_bench_kernels",
                                    "--benchmark_enable_random_interleaving=true",
                                    "--benchmark_repetitions=" + std::to_string(repetitions),
                                    "--benchmark_min_time=" + std::to_string(seconds)};
  if (!only.empty()) flags.push_back("--benchmark_filter=" + only);
  std::vector<char*> arguments;
  for (std::string& flag : flags) arguments.push_back(flag.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  const std::string load_before = load();
  Timings timings;
  Collector collector(timings);
  benchmark::RunSpecifiedBenchmarks(&collector);
  const std::vector<TargetRow> rows = kernel_targets(timings, levels);
  const Setup setup = this_setup(commit);
  std::cout << setup_line(setup) << "\n\nLoad before and after: " << load_before << "; " << load()
            << ". Environment:";
  for (const std::string& variable : environment()) std::cout << ' ' << variable;
  std::cout << (environment().empty() ? " nothing of note" : "") << "\n\n" << target_table(rows);
  if (!json.empty()) write_json(json, setup, load_before, rows, timings);
  return 0;
}

}  // namespace
}  // namespace stowage::bench

int main(int argc, char** argv) {
  try {
    return stowage::bench::run(argc, argv);
  } catch (const std::exception& failure) {
    std::cerr << "stowage_bench_kernels: " << failure.what() << '\n';
    return 70;
  }
}
