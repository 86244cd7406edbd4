#include "solvers/layout/busiest_first.h"

#include <algorithm>
#include <utility>

#include "instances/numeric/numbers.h"
#include "solvers/layout/params.h"

namespace stowage {
namespace {

// Returns the buffers that are alive in a section with at least this load.
std::vector<int> buffers_of_load(const LayoutTable& table, Bytes least) {
  std::vector<int> busy{0};  // number of sections of that load before each section
  for (int s = 0; s < table.sections(); ++s) {
    busy.push_back(busy.back() + (table.load(s) >= least ? 1 : 0));
  }
  std::vector<int> alive;
  for (int b = 0; b < table.buffers(); ++b) {
    const bool any = std::ranges::any_of(table.ranges(b), [&](const SectionRange& range) {
      return busy[at(range.first)] < busy[at(range.last)];
    });
    if (any) alive.push_back(b);
  }
  return alive;
}

}  // namespace

void lay_busiest_first(const LayoutInstance& instance, const LayoutTable& table,
                       const LayOut& lay_out, Bytes peak, const Budget& budget,
                       const BetterLayout& tell) {
  const auto most = static_cast<std::size_t>(layout_fixed::kMostBusy *
                                             static_cast<double>(instance.buffers.size()));
  std::vector<std::size_t> tried;  // numbers of buffers of the parts so far
  for (const double share : layout_fixed::kBusyShares) {
    if (peak <= table.max_load() || budget.exhausted()) return;
    const auto least = static_cast<Bytes>(share * static_cast<double>(table.max_load()));
    const std::vector<int> busy = buffers_of_load(table, least);
    if (busy.size() > most || std::ranges::find(tried, busy.size()) != tried.end()) continue;
    tried.push_back(busy.size());
    LayoutInstance part{.alignment = instance.alignment};
    for (const int b : busy) part.buffers.push_back(instance.buffers[at(b)]);
    const LayoutTable part_table(part);
    const auto fixed = lay_out(part, part_table);
    if (!fixed || part_table.peak(*fixed) >= peak) continue;
    LayoutInstance pinned{.alignment = instance.alignment, .buffers = instance.buffers};
    for (std::size_t k = 0; k < busy.size(); ++k) {
      pinned.buffers[at(busy[k])].offset = (*fixed)[k];
    }
    const auto all = lay_out(pinned, LayoutTable(pinned));
    if (!all || table.peak(*all) >= peak) continue;
    peak = table.peak(*all);
    tell(*all);
  }
}

}  // namespace stowage
