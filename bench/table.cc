// stowage_bench_table: results as Markdown. Reads the files named, or stdin.
//
//   stowage_bench_table results.jsonl more.jsonl > tables.md
#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "bench/summary.h"

namespace stowage::bench {
namespace {

std::string fixed(double value, int decimals) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(decimals) << value;
  return text.str();
}

std::string percent(double share) { return fixed(share * 100, 2) + " %"; }

// Bytes are whole, times have a decimal below 10 s.
std::string amount(double value, const std::string& problem) {
  return fixed(value, problem == "layout" || value >= 1e4 ? 0 : 1);
}

void print_setup(const Setup& setup) {
  std::cout << setup.date << ", commit " << (setup.commit.empty() ? "unknown" : setup.commit)
            << ", " << setup.cpu << " (" << setup.cores << " cores, " << fixed(setup.memory_gib, 1)
            << " GiB), " << setup.system << ", " << setup.compiler << ", MILP by "
            << (setup.backends.empty() ? "nobody" : setup.backends) << "\n\n";
}

void print_summary(const std::vector<MethodSummary>& summaries) {
  std::cout << "| method | kind | instances | plans | proven | gap median | gap worst | over best "
               "known: median | worst | CPU mean s | CPU most s |\n"
               "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const MethodSummary& m : summaries) {
    std::cout << "| " << m.method << " | " << m.kind << " | " << m.instances << " | " << m.planned
              << " | " << m.proven << " | " << percent(m.median_gap) << " | "
              << percent(m.worst_gap) << " | " << percent(m.median_excess) << " | "
              << percent(m.worst_excess) << " | " << fixed(m.mean_cpu_s, 3) << " | "
              << fixed(m.most_cpu_s, 3) << " |\n";
  }
  std::cout << '\n';
}

const Record* find(const std::vector<Record>& records, const std::string& instance,
                   const std::string& title) {
  for (const Record& record : records) {
    if (record.instance == instance && method_title(record) == title) return &record;
  }
  return nullptr;
}

void print_instances(const std::vector<Record>& records,
                     const std::vector<MethodSummary>& summaries,
                     const std::map<std::string, BestKnown>& best) {
  const std::string unit = records.front().problem == "layout" ? "bytes" : "ms";
  std::cout << "| instance | size | devices | bound " << unit << " | by | best " << unit
            << " | gap |";
  for (const MethodSummary& m : summaries) std::cout << ' ' << m.method << " |";
  std::cout << "\n|---|---:|---:|---:|---|---:|---:|";
  for (std::size_t i = 0; i < summaries.size(); ++i) std::cout << "---:|";
  std::cout << '\n';
  std::vector<std::string> printed;
  for (const Record& first : records) {
    if (std::ranges::find(printed, first.instance) != printed.end()) continue;
    printed.push_back(first.instance);
    const BestKnown& known = best.at(first.instance);
    std::cout << "| " << first.instance << " | " << first.size << " | " << first.devices << " | "
              << amount(known.bound, first.problem) << " | " << known.bound_by << " | "
              << (known.objective ? amount(*known.objective, first.problem) : "-") << " | "
              << (known.gap() ? percent(*known.gap()) : "-") << " |";
    for (const MethodSummary& m : summaries) {
      const Record* record = find(records, first.instance, m.method);
      const bool planned = record != nullptr && record->objective;
      std::cout << ' '
                << (planned ? amount(*record->objective, first.problem) +
                                  (record->status == "optimal" ? "*" : "")
                            : "-")
                << " |";
    }
    std::cout << '\n';
  }
  std::cout << "\n`*` proven optimal in that run. Objectives are of verified plans.\n\n";
}

int run(const std::vector<std::string>& files) {
  Results all;
  const auto append = [&all](std::istream& stream, const std::string& name) {
    Result<Results> results = read_results(stream, name);
    if (!results) {
      for (const InputError& error : results.errors()) std::cerr << to_string(error) << '\n';
      return false;
    }
    all.setups.insert(all.setups.end(), results->setups.begin(), results->setups.end());
    all.records.insert(all.records.end(), results->records.begin(), results->records.end());
    return true;
  };
  if (files.empty() && !append(std::cin, "stdin")) return 2;
  for (const std::string& file : files) {
    std::ifstream stream(file);
    if (!stream) {
      std::cerr << file << ": cannot be read\n";
      return 2;
    }
    if (!append(stream, file)) return 2;
  }
  for (const Setup& setup : all.setups) print_setup(setup);
  std::vector<std::string> suites;
  for (const Record& record : all.records) {
    if (std::ranges::find(suites, record.suite) == suites.end()) suites.push_back(record.suite);
  }
  for (const std::string& suite : suites) {
    std::vector<Record> records;
    for (const Record& record : all.records) {
      if (record.suite == suite) records.push_back(record);
    }
    const std::map<std::string, BestKnown> best = best_known(records);
    const std::vector<MethodSummary> summaries = summarise(records, best);
    std::cout << "## " << suite << "\n\n";
    print_summary(summaries);
    print_instances(records, summaries, best);
  }
  return 0;
}

}  // namespace
}  // namespace stowage::bench

int main(int argc, char** argv) {
  try {
    return stowage::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& failure) {
    std::cerr << "stowage_bench_table: " << failure.what() << '\n';
    return 70;
  }
}
