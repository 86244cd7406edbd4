#include "bench/markdown.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <set>
#include <sstream>

#include "bench/summary.h"
#include "solvers/outcome.h"

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

std::string seconds(const std::optional<double>& value) {
  return value ? fixed(*value, *value < 10 ? 3 : 1) : "-";
}

std::string cell(const std::string& text) { return ' ' + text + " |"; }

const Record* find(const std::vector<Record>& records, const std::string& instance,
                   const std::string& title) {
  for (const Record& record : records) {
    if (record.instance == instance && method_title(record) == title) return &record;
  }
  return nullptr;
}

// The instances in the order of their first record.
std::vector<const Record*> first_of_each(const std::vector<Record>& records) {
  std::vector<const Record*> firsts;
  std::set<std::string> seen;
  for (const Record& record : records) {
    if (seen.insert(record.instance).second) firsts.push_back(&record);
  }
  return firsts;
}

std::string unit_of(const std::vector<Record>& records) {
  return !records.empty() && records.front().problem == "layout" ? "bytes" : "ms";
}

// The record of a method whatever its limit.
const Record* by_method(const std::vector<Record>& records, const std::string& instance,
                        const std::string& method) {
  for (const Record& record : records) {
    if (record.instance == instance && record.method == method) return &record;
  }
  return nullptr;
}

// The length list a suite's step was cut from: "docs_md" of "gpt-7b-64gpu-192k-docs_md-0".
std::string list_of(const std::string& instance) {
  const std::size_t step = instance.rfind('-');
  if (step == std::string::npos || step == 0) return instance;
  const std::size_t list = instance.rfind('-', step - 1);
  return list == std::string::npos ? instance : instance.substr(list + 1, step - list - 1);
}

// "1.34 (1.10 to 1.58)": median and range.
std::string spread(const std::vector<double>& values, int decimals) {
  if (values.empty()) return "-";
  const auto [least, most] = std::ranges::minmax(values);
  return fixed(median(values), decimals) + " (" + fixed(least, decimals) + " to " +
         fixed(most, decimals) + ")";
}

// What a row of the table of gains is made of, a value for each step that has one.
struct Gains {
  std::size_t steps = 0;
  std::vector<double> homogeneous, flexsp, fast;  // step time over that of the default method
  std::vector<double> any_solver;                 // least step time with FlexSP's chunks, likewise
  std::vector<double> gaps;                       // of the default method's own bound, in percent
  std::vector<double> flexsp_s, fast_ms;          // planning, CPU time

  void add(const std::vector<Record>& records, const std::string& step) {
    const Record* ours = by_method(records, step, "auto");
    ++steps;
    if (ours == nullptr || !ours->objective) return;
    const auto ratio = [&](const Record* record, std::vector<double>& ratios) {
      if (record == nullptr || !record->objective) return false;
      ratios.push_back(*record->objective / *ours->objective);
      return true;
    };
    constexpr double kMsPerSecond = 1000;
    const Record* published = by_method(records, step, "flexsp");
    const Record* quick = by_method(records, step, "fast");
    ratio(by_method(records, step, "batch-ada"), homogeneous);
    const Record* chunks = by_method(records, step, "flexsp-chunks");
    if (chunks != nullptr && chunks->method_bound) {
      any_solver.push_back(*chunks->method_bound / *ours->objective);
    }
    if (ratio(published, flexsp)) flexsp_s.push_back(published->cpu_s);
    if (ratio(quick, fast)) fast_ms.push_back(quick->cpu_s * kMsPerSecond);
    gaps.push_back(100 * relative_gap(*ours->objective, ours->bound));
  }

  std::string row(const std::string& name) const {
    const auto middle = [](const std::vector<double>& values, const std::string& unit) {
      return values.empty() ? std::string("-") : fixed(median(values), 0) + unit;
    };
    return '|' + cell(name) + cell(std::to_string(steps)) + cell(spread(homogeneous, 2)) +
           cell(spread(flexsp, 2)) + cell(spread(any_solver, 2)) + cell(spread(fast, 3)) +
           cell(spread(gaps, 2)) + cell(middle(flexsp_s, " s")) + cell(middle(fast_ms, " ms")) +
           '\n';
  }
};

}  // namespace

std::string setup_line(const Setup& setup) {
  return setup.date + ", commit " + (setup.commit.empty() ? "unknown" : setup.commit) + ", " +
         setup.cpu + " (" + std::to_string(setup.cores) + " cores, " + fixed(setup.memory_gib, 1) +
         " GiB), " + setup.system + ", " + setup.compiler + ", MILP by " +
         (setup.backends.empty() ? "nobody" : setup.backends) + '\n';
}

std::string summary_table(const std::vector<Record>& records) {
  std::string text =
      "| method | kind | instances | plans | proven | gap median | gap worst | over best known: "
      "median | worst | CPU mean s | CPU most s |\n"
      "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const MethodSummary& m : summarise(records, best_known(records))) {
    const auto of_plans = [&m](double share) { return cell(m.planned > 0 ? percent(share) : "-"); };
    text += '|' + cell(m.method) + cell(m.kind) + cell(std::to_string(m.instances)) +
            cell(std::to_string(m.planned)) + cell(std::to_string(m.proven)) +
            of_plans(m.median_gap) + of_plans(m.worst_gap) + of_plans(m.median_excess) +
            of_plans(m.worst_excess) + cell(fixed(m.mean_cpu_s, 3)) + cell(fixed(m.most_cpu_s, 3)) +
            '\n';
  }
  return text;
}

std::string instance_table(const std::vector<Record>& records) {
  const std::map<std::string, BestKnown> best = best_known(records);
  const std::vector<MethodSummary> methods = summarise(records, best);
  const std::string unit = unit_of(records);
  std::string text =
      "| instance | size | devices | bound " + unit + " | by | best " + unit + " | gap |";
  for (const MethodSummary& m : methods) text += cell(m.method);
  text += "\n|---|---:|---:|---:|---|---:|---:|";
  for (std::size_t i = 0; i < methods.size(); ++i) text += "---:|";
  text += '\n';
  for (const Record* first : first_of_each(records)) {
    const BestKnown& known = best.at(first->instance);
    text += '|' + cell(first->instance) + cell(std::to_string(first->size)) +
            cell(std::to_string(first->devices)) + cell(amount(known.bound, first->problem)) +
            cell(known.bound_by) +
            cell(known.objective ? amount(*known.objective, first->problem) : "-") +
            cell(known.gap() ? percent(*known.gap()) : "-");
    for (const MethodSummary& m : methods) {
      const Record* record = find(records, first->instance, m.method);
      const bool planned = record != nullptr && record->objective;
      text += cell(planned ? amount(*record->objective, first->problem) +
                                 (record->status == "optimal" ? "*" : "")
                           : "-");
    }
    text += '\n';
  }
  return text;
}

std::string detail_table(const std::vector<Record>& records) {
  const std::string unit = unit_of(records);
  std::string text = "| instance | method | objective " + unit + " | bound " + unit +
                     " | by | gap | first s | best s | proof s | nodes |\n"
                     "|---|---|---:|---:|---|---:|---:|---:|---:|---:|\n";
  for (const Record& record : records) {
    const bool proven = record.status == "optimal" || record.status == "infeasible";
    text += '|' + cell(record.instance) + cell(method_title(record)) +
            cell(record.objective ? amount(*record.objective, record.problem) : "-") +
            cell(amount(record.bound, record.problem)) + cell(record.bound_by) +
            cell(record.objective ? percent(relative_gap(*record.objective, record.bound)) : "-") +
            cell(seconds(record.first_s)) + cell(seconds(record.best_s)) +
            cell(proven ? seconds(record.cpu_s) : "-") + cell(std::to_string(record.nodes)) + '\n';
  }
  return text;
}

std::string gains_table(const std::vector<Record>& records) {
  std::string text =
      "| lengths | steps | best homogeneous | `flexsp` | its chunks, any solver: at least | `fast` "
      "| "
      "gap in % | `flexsp` plans in | `fast` in |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  std::vector<std::pair<std::string, Gains>> lists;
  Gains all;
  for (const Record* first : first_of_each(records)) {
    const std::string list = list_of(first->instance);
    auto row = std::ranges::find(lists, list, &std::pair<std::string, Gains>::first);
    if (row == lists.end()) row = lists.insert(row, {list, {}});
    row->second.add(records, first->instance);
    all.add(records, first->instance);
  }
  for (const auto& [list, gains] : lists) text += gains.row(list);
  return text + all.row("all");
}

std::string history_table(const std::vector<Results>& runs) {
  int latest = 0;
  for (const Results& run : runs) {
    for (const Setup& setup : run.setups) latest = std::max(latest, setup.protocol);
  }
  std::string text =
      "| date | commit | suite | method | instances | proven | gap median | gap worst | CPU mean s "
      "|\n|---|---|---|---|---:|---:|---:|---:|---:|\n";
  for (const Results& run : runs) {
    if (run.setups.empty()) continue;
    const Setup& setup = run.setups.front();
    std::string date = setup.date;
    if (setup.protocol != latest) date += " [" + std::to_string(setup.protocol) + ']';
    for (const std::string& suite : suites_of(run.records)) {
      const std::vector<Record> records = of_suite(run.records, suite);
      for (const MethodSummary& m : summarise(records, best_known(records))) {
        text += '|' + cell(date) + cell(setup.commit) + cell(suite) + cell(m.method) +
                cell(std::to_string(m.instances)) + cell(std::to_string(m.proven)) +
                cell(m.planned > 0 ? percent(m.median_gap) : "-") +
                cell(m.planned > 0 ? percent(m.worst_gap) : "-") + cell(fixed(m.mean_cpu_s, 3)) +
                '\n';
      }
    }
  }
  return text;
}

std::vector<std::string> suites_of(const std::vector<Record>& records) {
  std::vector<std::string> suites;
  for (const Record& record : records) {
    if (std::ranges::find(suites, record.suite) == suites.end()) suites.push_back(record.suite);
  }
  return suites;
}

std::vector<Record> of_suite(const std::vector<Record>& records, const std::string& suite) {
  std::vector<Record> found;
  std::ranges::copy_if(records, std::back_inserter(found),
                       [&](const Record& record) { return record.suite == suite; });
  return found;
}

}  // namespace stowage::bench
