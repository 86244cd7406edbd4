#include "heuristics/partition/differencing.h"

#include <algorithm>
#include <vector>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Items of a bin as a chain through `next_`, so that joining two bins is O(1).
template <class Cost>
struct ItemChain {
  Cost load = 0;
  std::int32_t count = 0;
  std::int32_t first = -1;
  std::int32_t last = -1;
};

template <class Cost>
class Differencing {
  using Chain = ItemChain<Cost>;

 public:
  Differencing(std::span<const Cost> costs, std::span<const std::int64_t> ids, std::int64_t bins,
               std::size_t each)
      : costs_(costs), ids_(ids), bins_(at(bins)), each_(each), next_(costs.size(), -1) {}

  ItemBins run() {
    begin();
    std::vector<Chain> into;
    std::vector<Chain> more;
    for (std::size_t left = fresh_.size(); left > 1; --left) {
      take_widest(into);
      take_widest(more);
      join(into, more);
      put_back(into);
    }
    take_widest(into);
    ItemBins made(bins_);
    std::vector<std::size_t> bin_of(costs_.size());
    for (std::size_t b = 0; b < into.size(); ++b) {
      made[b].reserve(at(into[b].count));
      for (std::int32_t i = into[b].first; i >= 0; i = next_[at(i)]) bin_of[at(i)] = b;
    }
    for (std::size_t i = 0; i < bin_of.size(); ++i) {
      made[bin_of[i]].push_back(static_cast<std::int32_t>(i));
    }
    return made;
  }

 private:
  // The sort key of a partial partition.
  struct Head {
    Cost spread = 0;
    Chain dearest;
    std::size_t index = 0;  // of a round of items, or into joined_
  };

  Chain single(std::size_t item) const {
    const auto i = static_cast<std::int32_t>(item);
    return {costs_[item], 1, i, i};
  }
  bool dearer(const Chain& a, const Chain& b) const {
    if (a.load != b.load) return a.load > b.load;
    if (a.count != b.count) return a.count > b.count;
    return ids_[at(a.first)] > ids_[at(b.first)];
  }
  bool taken_first(const Head& a, const Head& b) const {
    return a.spread != b.spread ? a.spread > b.spread : dearer(a.dearest, b.dearest);
  }

  void begin() {
    for (std::size_t first = 0; first < costs_.size(); first += each_) {
      const std::size_t count = std::min(each_, costs_.size() - first);
      const Cost least = count < bins_ ? 0 : costs_[first + count - 1];
      fresh_.push_back({costs_[first] - least, single(first), first});
    }
    const auto order = [this](const Head& a, const Head& b) { return taken_first(a, b); };
    if (!std::ranges::is_sorted(fresh_, order)) std::ranges::sort(fresh_, order);
  }

  void take_widest(std::vector<Chain>& chains) {
    if (next_fresh_ < fresh_.size() &&
        (joined_heads_.empty() || taken_first(fresh_[next_fresh_], joined_heads_.front()))) {
      const std::size_t first = fresh_[next_fresh_++].index;
      chains.clear();
      for (std::size_t i = first; i < std::min(first + each_, costs_.size()); ++i) {
        chains.push_back(single(i));
      }
      return;
    }
    std::ranges::pop_heap(joined_heads_,
                          [this](const Head& a, const Head& b) { return taken_first(b, a); });
    const std::size_t index = joined_heads_.back().index;
    joined_heads_.pop_back();
    chains.swap(joined_[index]);
    free_.push_back(index);
  }

  // Keeps the memory of `chains` for reuse.
  void put_back(std::vector<Chain>& chains) {
    if (free_.empty()) {
      free_.push_back(joined_.size());
      joined_.emplace_back();
    }
    const std::size_t index = free_.back();
    free_.pop_back();
    const Cost least = chains.size() < bins_ ? 0 : chains.back().load;
    joined_heads_.push_back({chains.front().load - least, chains.front(), index});
    joined_[index].swap(chains);
    std::ranges::push_heap(joined_heads_,
                           [this](const Head& a, const Head& b) { return taken_first(b, a); });
  }

  // The i-th most expensive bin of `more` joins the i-th cheapest bin of `into`, which may be
  // empty.
  void join(std::vector<Chain>& into, const std::vector<Chain>& more) {
    const std::size_t kept = into.size();
    for (std::size_t i = 0; i < more.size(); ++i) {
      const std::size_t place = bins_ - 1 - i;
      if (place >= kept) {
        into.push_back(more[i]);
        continue;
      }
      Chain& chain = into[place];
      next_[at(chain.last)] = more[i].first;
      chain.last = more[i].last;
      chain.load += more[i].load;
      chain.count += more[i].count;
    }
    const auto order = [this](const Chain& a, const Chain& b) { return dearer(a, b); };
    if (more.size() > 1) {
      std::ranges::sort(into, order);
      return;
    }
    const auto changed = into.end() - 1;  // the only chain that changed
    std::rotate(std::upper_bound(into.begin(), changed, *changed, order), changed, into.end());
  }

  std::span<const Cost> costs_;
  std::span<const std::int64_t> ids_;
  std::size_t bins_;
  std::size_t each_;
  std::vector<std::int32_t> next_;  // next item of the same bin
  std::vector<Head> fresh_;         // rounds of items; those before next_fresh_ are joined
  std::size_t next_fresh_ = 0;
  std::vector<Head> joined_heads_;          // a heap
  std::vector<std::vector<Chain>> joined_;  // bins with items, most expensive first
  std::vector<std::size_t> free_;           // unused indices of joined_
};

}  // namespace

ItemBins differenced(std::span<const std::int64_t> costs, std::span<const std::int64_t> ids,
                     std::int64_t bins, std::size_t each) {
  return Differencing<std::int64_t>(costs, ids, bins, each).run();
}

ItemBins differenced(std::span<const double> costs, std::span<const std::int64_t> ids,
                     std::int64_t bins, std::size_t each) {
  return Differencing<double>(costs, ids, bins, each).run();
}

}  // namespace stowage
