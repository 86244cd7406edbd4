#include "formulations/scatter/lp/repack_master.h"

#include <algorithm>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

std::vector<double> prices_of(const std::vector<int>& rows, std::span<const double> duals) {
  std::vector<double> prices;
  for (const int row : rows) prices.push_back(row < 0 ? 0 : std::max(0.0, duals[at(row)]));
  return prices;
}

}  // namespace

ScatterPatternDiveMaster::ScatterPatternDiveMaster(const ScatterTable& table,
                                                   std::span<const int> counts,
                                                   std::span<const int> devices)
    : table_(table) {
  const int shortage = model_.add_variable({.lower = -double(table.devices()), .objective = 1});
  for (const int count : counts) {
    cover_row_.push_back(count > 0 ? model_.add_row({.lower = double(count)}) : -1);
  }
  for (const int there : devices) {
    device_row_.push_back(model_.add_row({.lower = -double(there), .terms = {{shortage, 1}}}));
  }
}

void ScatterPatternDiveMaster::add(std::size_t batch, int config,
                                   std::span<const PatternAmount> amounts) {
  const int variable = model_.add_variable({});
  for (const PatternAmount& amount : amounts) {
    model_.add_term(cover_row_[at(amount.kind)], {variable, double(amount.count)});
  }
  model_.add_term(device_row_[batch], {variable, -double(table_.configs()[at(config)].degree)});
}

std::vector<double> ScatterPatternDiveMaster::values(std::span<const double> duals) const {
  return prices_of(cover_row_, duals);
}

std::vector<double> ScatterPatternDiveMaster::prices(std::span<const double> duals) const {
  return prices_of(device_row_, duals);
}

}  // namespace stowage
