#include "bench/summary.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "solvers/outcome.h"

namespace stowage::bench {

std::optional<double> BestKnown::gap() const {
  if (!objective) return std::nullopt;
  return relative_gap(*objective, bound);
}

std::map<std::string, BestKnown> best_known(const std::vector<Record>& records) {
  std::map<std::string, BestKnown> best;
  for (const Record& record : records) {
    BestKnown& known = best[record.instance];
    if (record.objective && !(known.objective && *known.objective <= *record.objective)) {
      known.objective = record.objective;
      known.objective_by = record.method;
    }
    if (record.bound > known.bound || known.bound_by.empty()) {
      known.bound = record.bound;
      known.bound_by = record.bound_by;
    }
  }
  return best;
}

std::string method_title(const Record& record) {
  if (!record.time_limit_s) return record.method;
  std::ostringstream text;
  text << record.method << ' ' << *record.time_limit_s << " s";
  return text.str();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double shifted_geometric_mean(const std::vector<double>& values, double shift) {
  if (values.empty()) return 0;
  double sum = 0;
  for (const double value : values) sum += std::log(value + shift);
  return std::exp(sum / static_cast<double>(values.size())) - shift;
}

std::vector<MethodSummary> summarise(const std::vector<Record>& records,
                                     const std::map<std::string, BestKnown>& best) {
  constexpr double kShift_s = 0.01;
  std::vector<std::string> titles;
  for (const Record& record : records) {
    const std::string title = method_title(record);
    if (std::ranges::find(titles, title) == titles.end()) titles.push_back(title);
  }
  std::vector<MethodSummary> summaries;
  for (const std::string& title : titles) {
    MethodSummary summary{.method = title};
    std::vector<double> gaps;
    std::vector<double> excess;
    std::vector<double> seconds;
    for (const Record& record : records) {
      if (method_title(record) != title) continue;
      summary.kind = record.kind;
      ++summary.instances;
      if (record.status == "optimal") ++summary.proven;
      seconds.push_back(record.cpu_s);
      if (!record.objective) continue;
      gaps.push_back(relative_gap(*record.objective, record.bound));
      const double known = *best.at(record.instance).objective;
      excess.push_back(known > 0 ? *record.objective / known - 1 : 0);
    }
    summary.planned = gaps.size();
    summary.median_gap = median(gaps);
    summary.median_excess = median(excess);
    if (!gaps.empty()) {
      summary.worst_gap = *std::ranges::max_element(gaps);
      summary.worst_excess = *std::ranges::max_element(excess);
    }
    summary.mean_cpu_s = shifted_geometric_mean(seconds, kShift_s);
    summary.most_cpu_s = *std::ranges::max_element(seconds);
    summaries.push_back(summary);
  }
  return summaries;
}

}  // namespace stowage::bench
