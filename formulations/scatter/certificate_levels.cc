#include "formulations/scatter/certificate_levels.h"

#include <algorithm>

namespace stowage {

std::vector<CertificateLevel> certificate_levels(const ScatterTable& table) {
  std::vector<CertificateLevel> levels;
  const auto plain = [](const Level& level) { return level.exchange == ExchangeKind::none; };
  if (!table.chooses_recomputation() && std::ranges::all_of(table.levels(), plain)) return levels;
  for (const Level& level : table.levels()) {
    levels.push_back({level.degree, level.exchange, level.weight, level.recomputation});
  }
  return levels;
}

}  // namespace stowage
