// Numbers for the sets of sequences of a step. Sequences of one padded length are interchangeable.
// Not installed.
//
//   SetBox box(sets);
//   box.become(sets.all());
//   box.visit([](std::size_t set) { ... });   // every set, ascending
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

using SetCounts = std::vector<int>;  // sequences of each kind

// Sets of sequences as numbers: the counts are the digits, and kind 0 is the most significant. A
// subset of a set has a smaller number than the set.
class SubsetIndex {
 public:
  // Returns the sets of the table, or nullopt if there are more than `most`.
  static std::optional<SubsetIndex> of(const ScatterTable& table, std::size_t most) {
    SubsetIndex sets;
    std::size_t size = 1;
    for (const DistinctLength& kind : table.kinds()) {
      sets.all_.push_back(kind.count);
      size *= at(kind.count) + 1;
      if (size > most) return std::nullopt;
    }
    std::size_t place = size;
    for (const int count : sets.all_) sets.places_.push_back(place /= at(count) + 1);
    return sets;
  }

  const SetCounts& all() const { return all_; }
  std::size_t size() const { return all_.empty() ? 1 : places_[0] * (at(all_[0]) + 1); }
  std::size_t place(std::size_t kind) const { return places_[kind]; }

  void read(std::size_t set, SetCounts& counts) const {
    counts.resize(all_.size());
    for (std::size_t kind = 0; kind < all_.size(); ++kind) {
      counts[kind] = static_cast<int>(set / places_[kind]);
      set %= places_[kind];
    }
  }

 private:
  SetCounts all_;
  std::vector<std::size_t> places_;
};

// All sets with at most given counts of each kind, ascending: each is the sum of an entry of
// `high_` and one of `low_`.
class SetBox {
 public:
  explicit SetBox(const SubsetIndex& sets) : sets_(sets) {}

  void become(const SetCounts& most) {
    const std::size_t half = most.size() / 2;
    list(most, 0, half, high_);
    list(most, half, most.size(), low_);
  }
  std::size_t size() const { return high_.size() * low_.size(); }

  template <class Visit>
  void visit(Visit visit) const {
    for (const std::uint32_t high : high_) {
      for (const std::uint32_t low : low_) visit(std::size_t{high} + low);
    }
  }

 private:
  void list(const SetCounts& most, std::size_t from, std::size_t to,
            std::vector<std::uint32_t>& all) {
    all.assign(1, 0);
    // The most significant digit last, so that numbers ascend.
    for (std::size_t kind = to; kind-- > from;) {
      const std::size_t before = all.size();
      for (int count = 1; count <= most[kind]; ++count) {
        const auto more = static_cast<std::uint32_t>(at(count) * sets_.place(kind));
        for (std::size_t i = 0; i < before; ++i) all.push_back(all[i] + more);
      }
    }
  }

  const SubsetIndex& sets_;
  std::vector<std::uint32_t> high_;
  std::vector<std::uint32_t> low_;
};

}  // namespace stowage
