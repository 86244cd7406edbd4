// stowage_bench_published: compares predictions with published training steps. Writes Markdown to
// stdout, and with --rows a CSV file with a line for each step. With --tables it writes only the
// tables that the program contains.
//
//   stowage_bench_published instances/data/published/steps.csv > bench/results/0.1.0/published.txt
//   stowage_bench_published instances/data/published/steps.csv --tables instances/data/published
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "bench/published_stacks.h"

namespace stowage::bench {
namespace {

// source with 1,440 steps of up to 0.3 s
constexpr std::string_view kSmallModels = "vtrain-single";

std::string percents(const Spread& spread) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << 100 * spread.median << " / " << 100 * spread.p90
       << " / " << 100 * spread.worst;
  return text.str();
}

class Report {
 public:
  explicit Report(std::vector<PublishedStep> steps)
      : steps_(std::move(steps)),
        first_(by_defaults(steps_, 1)),
        second_(by_defaults(steps_, 2)),
        halves_(by_halves(steps_)),
        models_(without_its_model(steps_)) {}

  void print() const {
    std::cout << "Errors are |predicted / measured - 1| in %: median / 90th percentile / worst.\n\n"
              << "| steps | rows | version 1, defaults | version 2, defaults | bias | halves | "
                 "other models |\n|---|---:|---|---|---:|---|---|\n";
    for (const std::string& source : sources()) {
      print_errors(source, [&](const PublishedStep& step) { return step.source == source; });
    }
    print_errors("all A100 and H100, 16 bits, without " + std::string(kSmallModels), is_plain);
    print_errors("all without " + std::string(kSmallModels),
                 [](const PublishedStep& step) { return step.source != kSmallModels; });
    print_errors("all", [](const PublishedStep&) { return true; });
    std::cout << '\n';
    std::cout << "| A100 and H100, 16 bits, tokens of a sequence | rows | version 1, defaults | "
                 "version 2, defaults | bias | halves | other models "
                 "|\n|---|---:|---|---|---:|---|---|\n";
    for (Tokens low = 512; low <= 65536; low *= 4) {
      print_errors(std::to_string(low) + " to " + std::to_string(4 * low - 1),
                   [&](const PublishedStep& step) {
                     return is_plain(step) && step.tokens >= low && step.tokens < 4 * low;
                   });
    }
    print_rankings();
    print_memory();
  }

  // Writes milliseconds per step: measured, and predicted by each method; 0 without a prediction.
  void write_rows(const std::string& path) const {
    std::ofstream file(path);
    file << "id,source,precision,measured_ms,version_1_ms,version_2_ms,halves_ms,other_models_ms\n";
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const PublishedStep& step = steps_[i];
      file << step.sample.instance.name << ',' << step.source << ',' << step.precision;
      for (const Ms ms : {step.sample.step_ms, first_[i], second_[i], halves_[i], models_[i]}) {
        file << ',' << std::llround(ms);
      }
      file << '\n';
    }
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
  }

 private:
  std::vector<std::string> sources() const {
    std::vector<std::string> all;
    for (const PublishedStep& step : steps_) {
      if (std::ranges::find(all, step.source) == all.end()) all.push_back(step.source);
    }
    return all;
  }

  void print_errors(const std::string& name, const StepFilter& wanted) const {
    const Spread second = spread_of(steps_, second_, wanted);
    if (second.steps == 0) return;
    std::cout << "| " << name << " | " << second.steps << " | "
              << percents(spread_of(steps_, first_, wanted)) << " | " << percents(second) << " | "
              << std::fixed << std::setprecision(1) << 100 * second.bias << " | "
              << percents(spread_of(steps_, halves_, wanted)) << " | ";
    const Spread models = spread_of(steps_, models_, wanted);
    std::cout << (models.steps == 0 ? "-" : percents(models)) << " |\n";
  }

  void print_rankings() const {
    std::cout
        << "\nOrder of the configurations of a job, in jobs of four steps or more.\n\n"
        << "| source | jobs | tau, version 1 | tau, version 2 | tau, halves | regret of version "
           "2, median / worst, % | regret of halves |\n|---|---:|---:|---:|---:|---|---|\n";
    for (const std::string& source : sources()) {
      const auto wanted = [&](const PublishedStep& step) { return step.source == source; };
      const Ranking second = ranking_of(steps_, second_, wanted);
      if (second.jobs == 0) continue;
      const Ranking halves = ranking_of(steps_, halves_, wanted);
      std::cout << "| " << source << " | " << second.jobs << std::setprecision(2) << " | "
                << ranking_of(steps_, first_, wanted).tau << " | " << second.tau << " | "
                << halves.tau << std::setprecision(1) << " | " << 100 * second.median_regret
                << " / " << 100 * second.worst_regret << " | " << 100 * halves.median_regret
                << " / " << 100 * halves.worst_regret << " |\n";
    }
  }

  void print_memory() const {
    std::cout << "\nMemory of the fullest device.\n\n| source | readings | predicted / measured, "
                 "median | ran | refused of them | ran out of memory | admitted of them "
                 "|\n|---|---:|---:|---:|---:|---:|---:|\n";
    for (const std::string& source : sources()) {
      const MemorySpread memory =
          memory_of(steps_, [&](const PublishedStep& step) { return step.source == source; });
      std::cout << "| " << source << " | " << memory.readings << " | ";
      if (memory.readings == 0) {
        std::cout << '-';
      } else {
        std::cout << std::setprecision(2) << memory.median;
      }
      std::cout << " | " << memory.ran << " | " << memory.refused << " | " << memory.exhausted
                << " | " << memory.admitted << " |\n";
    }
  }

  std::vector<PublishedStep> steps_;
  std::vector<Ms> first_;
  std::vector<Ms> second_;
  std::vector<Ms> halves_;
  std::vector<Ms> models_;
};

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

int run(int argc, char** argv) {
  CLI::App app("Compares predicted with published training steps; Markdown on stdout");
  std::string path;
  app.add_option("STEPS", path, "instances/data/published/steps.csv")->required();
  std::string rows;
  app.add_option("--rows", rows, "CSV file to write: a line for each step");
  std::string tables;
  app.add_option("--tables", tables, "Directory to write stacks.csv and errors.csv to, alone");
  CLI11_PARSE(app, argc, argv);
  if (!tables.empty()) {
    const std::vector<PublishedStep> steps = read_published(path);
    write(tables + "/stacks.csv", stacks_csv(steps));
    write(tables + "/errors.csv", errors_csv(steps));
    return 0;
  }
  const Report report(read_published(path));
  report.print();
  if (!rows.empty()) report.write_rows(rows);
  return 0;
}

}  // namespace
}  // namespace stowage::bench

int main(int argc, char** argv) {
  try {
    return stowage::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "stowage_bench_published: " << error.what() << '\n';
    return 2;
  }
}
