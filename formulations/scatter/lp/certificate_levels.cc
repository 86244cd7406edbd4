#include "formulations/scatter/lp/certificate_levels.h"

#include <algorithm>

namespace stowage {

std::vector<CertificateLevel> certificate_levels(const ScatterTable& table) {
  std::vector<CertificateLevel> levels;
  const auto plain = [](const GroupConfig& level) { return level.exchange == ExchangeKind::none; };
  const auto measured = [](const GroupConfig& level) { return level.below.has_value(); };
  const bool one = !table.chooses_recomputation() && !table.several_kinds() &&
                   std::ranges::none_of(table.configs(), measured);
  if (one && std::ranges::all_of(table.configs(), plain)) return levels;
  for (const GroupConfig& level : table.configs()) {
    levels.push_back({level.degree, level.exchange, level.weight, level.recomputation, level.place,
                      level.below.value_or(AffineTime{})});
  }
  return levels;
}

}  // namespace stowage
