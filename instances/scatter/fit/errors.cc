#include "instances/scatter/fit/errors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace stowage {

std::vector<std::size_t> parts_of(std::span<const TimedRow> rows) {
  std::map<int, std::size_t> seen;
  std::vector<std::size_t> parts;
  parts.reserve(rows.size());
  for (const TimedRow& row : rows) parts.push_back(seen[row.degree]++ % kParts);
  return parts;
}

ErrorSummary summary_of(std::vector<double> errors) {
  ErrorSummary summary{.rows = std::ssize(errors)};
  if (errors.empty()) return summary;
  std::ranges::sort(errors);
  const auto count = static_cast<double>(errors.size());
  summary.median = errors[errors.size() / 2];
  summary.mean = std::accumulate(errors.begin(), errors.end(), 0.0) / count;
  summary.p95 = errors[static_cast<std::size_t>(std::ceil(0.95 * count)) - 1];
  return summary;
}

std::vector<ErrorOfDegree> errors_by_degree(std::span<const TimedRow> rows,
                                            std::span<const std::size_t> some,
                                            std::span<const double> errors) {
  std::map<int, std::vector<double>> by_degree;
  for (const std::size_t row : some) by_degree[rows[row].degree].push_back(errors[row]);
  std::vector<ErrorOfDegree> summaries;
  for (auto& [degree, own] : by_degree) summaries.push_back({degree, summary_of(std::move(own))});
  return summaries;
}

std::vector<ErrorOfLength> errors_by_length(std::span<const TimedRow> rows,
                                            std::span<const std::size_t> some,
                                            std::span<const double> errors) {
  constexpr Tokens kShortest = 1024;
  std::map<Tokens, std::vector<double>> by_length;  // by the upper end of the class
  for (const std::size_t row : some) {
    const Tokens longest = *std::ranges::max_element(rows[row].lengths);
    Tokens end = kShortest;
    while (end < longest) end *= 4;
    by_length[end].push_back(errors[row]);
  }
  std::vector<ErrorOfLength> summaries;
  for (auto& [end, own] : by_length) {
    summaries.push_back({.shortest = end == kShortest ? 1 : end / 4 + 1,
                         .longest = end,
                         .error = summary_of(std::move(own))});
  }
  return summaries;
}

}  // namespace stowage
