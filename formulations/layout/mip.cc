#include "formulations/layout/mip.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "instances/layout/neighbours.h"

namespace stowage {
namespace {

using milp::Row;

class Builder {
 public:
  Builder(const LayoutTable& table, const LayoutMipOptions& options)
      : table_(table), strong_(options.strengthened) {
    out_.unit = strong_ ? table.unit() : 1;  // E3
    most_ = table.stack();
    if (strong_ && options.most) most_ = std::min(most_, *options.most);
    most_ = most_ / out_.unit * out_.unit;  // some optimal layout ends at a multiple of the unit
    least_ = strong_ ? (options.least + out_.unit - 1) / out_.unit * out_.unit : 0;
  }

  LayoutMip build() {
    if (least_ > most_) return nothing();
    out_.peak = out_.model.add_variable({.name = "P",
                                         .lower = units(least_),  // E1
                                         .upper = units(most_),
                                         .objective = static_cast<double>(out_.unit),
                                         .integer = strong_});  // E3
    for (int b = 0; b < table_.buffers(); ++b) {
      if (!add_offset(b)) return nothing();
    }
    const LayoutNeighbours neighbours(table_);
    for (int b = 0; b < table_.buffers(); ++b) {
      for (const int other : neighbours.of(b)) {
        if (other > b && !add_pair(b, other)) return nothing();
      }
    }
    return std::move(out_);
  }

 private:
  double units(Bytes bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(out_.unit);
  }
  double size(int b) const { return units(table_.size(b)); }
  LayoutMip nothing() {
    out_.empty = true;
    out_.model = {};
    return std::move(out_);
  }

  // Returns the highest offset of b in a layout of at most `most_` bytes [E2], or -1.
  Bytes highest(int b) const {
    if (table_.pinned(b)) return table_.pin(b);
    const Bytes top = most_ - table_.size(b);
    return top < 0 ? -1 : top / table_.alignment(b) * table_.alignment(b);
  }
  Bytes lowest(int b) const { return table_.pinned(b) ? table_.pin(b) : 0; }

  bool add_offset(int b) {
    const Bytes high = highest(b);
    if (strong_ && (high < 0 || high + table_.size(b) > most_)) return false;
    // D3: the offset is a multiple of the alignment. If the alignment is one unit, every settled
    // layout satisfies this.
    const Bytes alignment = table_.alignment(b);
    const bool steps = alignment > out_.unit && !table_.pinned(b);
    const double multiple = steps ? units(alignment) : 1;
    const std::string name = std::to_string(b);
    const double low = units(lowest(b)) / multiple;
    const bool bounded = strong_ || table_.pinned(b);
    const int variable =
        out_.model.add_variable({.name = (steps ? "k_" : "A_") + name,
                                 .lower = low,
                                 .upper = bounded ? units(high) / multiple : milp::kInfinity,
                                 .integer = steps});
    out_.offset.push_back(variable);
    out_.multiple.push_back(multiple);
    // D1: A_i + S_i <= P.
    out_.model.add_row({.name = "D1_" + name,
                        .upper = -size(b),
                        .terms = {{variable, multiple}, {out_.peak, -1}}});
    return true;
  }

  int offset(int b) const { return out_.offset[static_cast<std::size_t>(b)]; }
  double multiple(int b) const { return out_.multiple[static_cast<std::size_t>(b)]; }

  // Returns false if `low` cannot lie below `high`. E5: then both exceed the peak.
  bool possible(int low, int high) const {
    return !strong_ || lowest(low) + table_.size(low) <= highest(high);
  }

  bool add_pair(int a, int b) {
    const bool twins = strong_ && table_.twin_before(b) >= 0 && same_twins(a, b);
    if (twins || !possible(b, a)) return fix(a, b);  // E4, E5
    if (!possible(a, b)) return fix(b, a);
    const std::string name = std::to_string(a) + "_" + std::to_string(b);
    const int above = out_.model.add_variable({.name = "z_" + name, .upper = 1, .integer = true});
    out_.pairs.push_back({a, b, above});
    // D2: A_a + S_a <= A_b + z M, and A_b + S_b <= A_a + (1 - z) M'.
    add_order("D2_" + name, a, b, {above, -slack(a, b)}, 0);
    add_order("D2_" + std::to_string(b) + "_" + std::to_string(a), b, a, {above, slack(b, a)},
              slack(b, a));
    return true;
  }

  // Returns true if `a` is among the twins before `b`. Each twin links to the twin before it.
  bool same_twins(int a, int b) const {
    int before = b;
    while (before > a) before = table_.twin_before(before);
    return before == a;
  }

  bool fix(int low, int high) {
    if (!possible(low, high)) return false;
    out_.pairs.push_back({low, high, -1});
    add_order("E4_" + std::to_string(low) + "_" + std::to_string(high), low, high, {-1, 0}, 0);
    return true;
  }

  // Returns the largest possible value of A_low + S_low - A_high.
  double slack(int low, int high) const {
    if (!strong_) return units(most_);
    return units(highest(low) + table_.size(low) - lowest(high));
  }

  void add_order(std::string name, int low, int high, milp::Term order, double right) {
    Row row{.name = std::move(name),
            .upper = right - size(low),
            .terms = {{offset(low), multiple(low)}, {offset(high), -multiple(high)}}};
    if (order.variable >= 0) row.terms.push_back(order);
    out_.model.add_row(std::move(row));
  }

  const LayoutTable& table_;
  const bool strong_;
  Bytes most_ = 0;
  Bytes least_ = 0;
  LayoutMip out_;
};

// Returns the least aligned offset of b at which it overlaps no interval of `taken`.
Bytes lowest_free(const LayoutTable& table, int b, std::vector<std::pair<Bytes, Bytes>> taken) {
  std::sort(taken.begin(), taken.end());
  Bytes offset = 0;
  for (const auto& [from, to] : taken) {
    if (offset + table.size(b) <= from) break;
    offset = std::max(offset, table.aligned(b, to));
  }
  return offset;
}

}  // namespace

std::int64_t layout_mip_pairs(const LayoutTable& table) { return count_pairs(table); }

LayoutMip build_layout_mip(const LayoutTable& table, const LayoutMipOptions& options) {
  return Builder(table, options).build();
}

std::vector<Bytes> decode(const LayoutMip& mip, const LayoutTable& table,
                          const std::vector<double>& values) {
  const auto level = [&](int b) {
    const auto i = static_cast<std::size_t>(b);
    return values[static_cast<std::size_t>(mip.offset[i])] * mip.multiple[i];
  };
  std::vector<int> order(static_cast<std::size_t>(table.buffers()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return level(a) < level(b); });
  const LayoutNeighbours neighbours(table);
  std::vector<Bytes> offsets(order.size(), -1);
  const auto at = [&](int b) -> Bytes& { return offsets[static_cast<std::size_t>(b)]; };
  for (const int b : order) {
    if (table.pinned(b)) at(b) = table.pin(b);
  }
  for (const int b : order) {
    if (table.pinned(b)) continue;
    std::vector<std::pair<Bytes, Bytes>> taken;
    for (const int other : neighbours.of(b)) {
      if (at(other) >= 0) taken.emplace_back(at(other), at(other) + table.size(other));
    }
    at(b) = lowest_free(table, b, std::move(taken));
  }
  return offsets;
}

std::vector<double> encode(const LayoutMip& mip, const LayoutTable& table,
                           std::vector<Bytes> offsets) {
  if (mip.empty || offsets.size() != mip.offset.size()) return {};
  // Sorts twins by offset: each chain of twins, from its last member back.
  std::vector<bool> done(offsets.size(), false);
  for (int b = table.buffers() - 1; b >= 0; --b) {
    std::vector<int> twins;
    for (int t = b; t >= 0 && !done[static_cast<std::size_t>(t)]; t = table.twin_before(t)) {
      done[static_cast<std::size_t>(t)] = true;
      twins.push_back(t);
    }
    std::vector<Bytes> sorted;
    for (const int t : twins) sorted.push_back(offsets[static_cast<std::size_t>(t)]);
    std::sort(sorted.rbegin(), sorted.rend());
    for (std::size_t k = 0; k < twins.size(); ++k) {
      offsets[static_cast<std::size_t>(twins[k])] = sorted[k];
    }
  }
  std::vector<double> values(mip.model.variables().size(), 0);
  const auto unit = static_cast<double>(mip.unit);
  double peak = mip.model.variables()[static_cast<std::size_t>(mip.peak)].lower;
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    values[static_cast<std::size_t>(mip.offset[b])] =
        static_cast<double>(offsets[b]) / unit / mip.multiple[b];
    const Bytes end = offsets[b] + table.size(static_cast<int>(b));
    peak = std::max(peak, static_cast<double>(end) / unit);
  }
  const milp::Variable& top = mip.model.variables()[static_cast<std::size_t>(mip.peak)];
  values[static_cast<std::size_t>(mip.peak)] = top.integer ? std::ceil(peak) : peak;
  for (const LayoutMip::Pair& pair : mip.pairs) {
    const bool above =
        offsets[static_cast<std::size_t>(pair.low)] > offsets[static_cast<std::size_t>(pair.high)];
    if (pair.above < 0) {
      if (above) return {};
      continue;
    }
    values[static_cast<std::size_t>(pair.above)] = above ? 1 : 0;
  }
  const auto& variables = mip.model.variables();
  for (std::size_t v = 0; v < variables.size(); ++v) {
    if (values[v] < variables[v].lower || values[v] > variables[v].upper) return {};
  }
  return values;
}

}  // namespace stowage
