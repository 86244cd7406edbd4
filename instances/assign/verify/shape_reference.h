// Whether the patterns of a scheme's prices cover every row that its replicas may have. Not
// installed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "instances/assign/certificate.h"
#include "instances/assign/verify/lengths_reference.h"
#include "instances/proof/violation_list.h"

namespace stowage {

// What is wrong with a pattern: a number that is none from 0 on, or a rule with what it needs.
struct ShapeFault {
  std::size_t pattern = 0;
  std::optional<double> number;
  std::string have;
  std::string need;
};

inline std::vector<ShapeFault> shape_faults(const Scheme& scheme, const SchemePrices& prices,
                                            const std::vector<LengthSort>& sorts) {
  // Most steps of a part price.
  constexpr std::int64_t kMaxSteps = 1'000'000;
  const auto& patterns = prices.patterns;
  std::vector<ShapeFault> faults;
  const auto wrong = [&](std::size_t k, std::string have, std::string need) {
    faults.push_back({k, std::nullopt, std::move(have), std::move(need)});
  };
  const auto number = [&](std::size_t k, double have) { faults.push_back({k, have, "", ""}); };
  Tokens top = 0;  // the longest sequence that the scheme holds
  for (const LengthSort& sort : sorts) {
    if (holds(scheme, sort.tokens)) top = std::max(top, sort.tokens);
  }
  if (patterns.empty()) wrong(0, "no pattern", "patterns");
  for (std::size_t k = 0; k < patterns.size(); ++k) {
    const RowPattern& each = patterns[k];
    for (const double price : {each.time, each.tokens}) {
      if (std::isfinite(price) && price >= 0) continue;
      number(k, price);
    }
    for (const PartPrice& part : each.parts) {
      if (!std::isfinite(part.price) || part.price < 0) {
        number(k, part.price);
      }
      if (part.steps < 1 || part.steps > kMaxSteps) {
        wrong(k, text(part.steps) + " steps", "1 to 1000000");
      }
    }
    if (each.most_rows != 0 && each.most_rows < each.least_rows) {
      wrong(k, text(each.least_rows) + " to " + text(each.most_rows) + " rows", "a range");
    }
    const bool same = k > 0 && patterns[k - 1].least_rows == each.least_rows;
    if (same) {
      if (patterns[k - 1].most_rows != each.most_rows || each.longest <= patterns[k - 1].longest) {
        wrong(k, "sequences up to " + text(each.longest) + " tokens",
              "longer ones than before, in as many rows");
      }
      continue;
    }
    const std::int64_t next = k == 0 ? 0 : patterns[k - 1].most_rows;
    if ((k > 0 && next == 0) || each.least_rows != next + 1) {
      wrong(k, "rows from " + text(each.least_rows), "from " + text(next + 1));
    }
    if (k > 0 && patterns[k - 1].longest < top) {
      wrong(k - 1, "sequences up to " + text(patterns[k - 1].longest) + " tokens",
            "up to " + text(top));
    }
  }
  if (faults.empty() && (patterns.back().most_rows != 0 || patterns.back().longest < top)) {
    wrong(patterns.size() - 1, "an end", "any number of rows, sequences up to " + text(top));
  }
  return faults;
}

}  // namespace stowage
