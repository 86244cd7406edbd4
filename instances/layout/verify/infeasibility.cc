// Checks the proofs of verify.h that no plan exists. It shares no code with the search that finds
// them.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "instances/layout/verify/counterexample_plan.h"
#include "instances/layout/verify/verify.h"
#include "instances/proof/infeasibility_check.h"

namespace stowage {
namespace {

constexpr Bytes kMaxCells = Bytes{1} << 26;  // cells of sums of sizes: some tenths of a second

class LayoutProof {
 public:
  LayoutProof(const LayoutInstance& instance, const InfeasibilityProof& proof)
      : instance_(instance),
        proof_(proof),
        check_(proof, {{"pins", ProofParts::witnesses_and_step},
                       {"capacity", ProofParts::witnesses},
                       {"load", ProofParts::witnesses_and_step},
                       {"heights", ProofParts::witnesses_and_step}}) {}

  std::vector<Violation> run() && {
    if (proof_.by == "pins") pins();
    if (proof_.by == "capacity") capacity();
    if (proof_.by == "load") load();
    if (proof_.by == "heights") heights();
    if (proof_.by == "none" && has_counterexample_plan(instance_)) check_.plan_exists();
    return std::move(check_).take();
  }

 private:
  const Buffer& witness(std::size_t k) const {
    return instance_.buffers[static_cast<std::size_t>(proof_.witnesses[k])];
  }

  // Returns whether the witnesses ascend and are buffers that, with `at_step`, need memory at the
  // step.
  bool witnesses_count(std::size_t least, bool at_step) {
    check_.at_least(least);
    bool good = check_.ascends() && proof_.witnesses.size() >= least;
    if (at_step && !proof_.step) {
      check_.wrong("/step", "no step", "one");
      return false;
    }
    const auto buffers = static_cast<std::int64_t>(instance_.buffers.size());
    for (std::size_t k = 0; k < proof_.witnesses.size(); ++k) {
      const std::int64_t b = proof_.witnesses[k];
      const bool known = b >= 0 && b < buffers;
      if (known && (!at_step || lives(witness(k), *proof_.step))) continue;
      good = false;
      check_.wrong_witness(
          k, "buffer " + text(b),
          std::string("a buffer") + (at_step ? " that needs memory at the step" : ""));
    }
    return good;
  }

  static bool lives(const Buffer& buffer, std::int64_t step) {
    if (step < buffer.lower || step >= buffer.upper) return false;
    return std::ranges::none_of(
        buffer.gaps, [&](const Lifetime& gap) { return gap.lower <= step && step < gap.upper; });
  }

  void pins() {
    if (!witnesses_count(2, true)) return;
    const Buffer& a = witness(0);
    const Buffer& b = witness(1);
    const bool share = proof_.witnesses.size() == 2 && a.offset && b.offset && a.size > 0 &&
                       b.size > 0 && *a.offset < *b.offset + b.size &&
                       *b.offset < *a.offset + a.size;
    if (!share) check_.wrong("/witnesses", "buffers apart", "two pinned ones that share a byte");
  }

  void capacity() {
    if (!witnesses_count(1, false)) return;
    for (std::size_t k = 0; k < proof_.witnesses.size(); ++k) {
      const Buffer& buffer = witness(k);
      if (instance_.capacity && buffer.offset &&
          *buffer.offset + buffer.size > *instance_.capacity) {
        continue;
      }
      check_.wrong_witness(k, "buffer " + text(proof_.witnesses[k]),
                           "one that is pinned beyond the capacity");
    }
  }

  // Returns the bytes that the witnesses need at once, in whole blocks of their common alignment.
  // They are at most 2^53, as the reader checked.
  Bytes needed() const {
    Bytes block = 0;
    for (std::size_t k = 0; k < proof_.witnesses.size(); ++k) {
      if (witness(k).size > 0) block = std::gcd(block, alignment(witness(k)));
    }
    if (block == 0) return 0;
    Bytes need = 0;
    Bytes cut = 0;  // most bytes that a buffer leaves free in its last block
    for (std::size_t k = 0; k < proof_.witnesses.size(); ++k) {
      const Bytes size = witness(k).size;
      const Bytes left = (block - size % block) % block;
      need += size + left;
      cut = std::max(cut, left);
    }
    return need - cut;
  }

  void load() {
    if (!witnesses_count(1, true)) return;
    const Bytes need = needed();
    if (instance_.capacity && need > *instance_.capacity) return;
    check_.wrong(
        "/witnesses", text(need) + " bytes at once",
        instance_.capacity ? "more than the capacity, " + text(*instance_.capacity) : "a capacity");
  }

  // The peak of a settled layout is at least the need of the witnesses, and is an end of a stack.
  void heights() {
    if (!witnesses_count(1, true)) return;
    const Bytes need = needed();
    if (!instance_.capacity) return check_.wrong("/witnesses", "no capacity", "one");
    if (!may_end_in(need, *instance_.capacity)) return;
    check_.wrong("/witnesses",
                 "a stack that may end between " + text(need) + " bytes and the capacity, " +
                     text(*instance_.capacity),
                 "none");
  }

  Bytes alignment(const Buffer& buffer) const {
    return std::lcm(instance_.alignment, buffer.alignment);
  }

  // Returns whether a buffer of a settled layout may end in [least, most]. Such a buffer lies,
  // aligned, on other buffers, on a pinned one, or on 0.
  bool may_end_in(Bytes least, Bytes most) const {
    if (least == 0) return true;  // buffers of no bytes have no top
    if (most < least) return false;
    Bytes common = 0;  // alignment of the buffers without a pin
    for (const Buffer& buffer : instance_.buffers) {
      if (buffer.size == 0 || buffer.offset) continue;
      if (common != 0 && common != alignment(buffer)) return true;
      common = alignment(buffer);
    }
    return stack_may_end_in(least, most, std::max<Bytes>(common, 1));
  }

  // Returns whether a sum of sizes lies in [least, most]. Sums count even if their buffers cannot
  // lie on each other: more sums only make the proof harder. Returns true if there are too many
  // sums.
  bool stack_may_end_in(Bytes least, Bytes most, Bytes common) const {
    const auto rounded = [common](Bytes end) { return (end + common - 1) / common * common; };
    std::map<Bytes, std::int64_t> counts;  // of sizes, rounded up
    std::set<Bytes> tops;                  // sizes of buffers that may lie topmost
    std::set<Bytes> bases{0};
    Bytes block = 0;
    for (const Buffer& buffer : instance_.buffers) {
      if (buffer.size == 0) continue;
      if (buffer.offset) {
        const Bytes end = *buffer.offset + buffer.size;
        if (end >= least && end <= most) return true;
        bases.insert(rounded(end));
        block = std::gcd(block, rounded(end));
      } else {
        tops.insert(buffer.size);
        ++counts[rounded(buffer.size)];
        block = std::gcd(block, rounded(buffer.size));
      }
    }
    const Bytes cells = most / block + 1;
    if (cells > kMaxCells / static_cast<Bytes>(counts.size() + tops.size() + 1)) return true;
    std::vector<char> reached(static_cast<std::size_t>(cells), 0);
    for (const Bytes base : bases) {
      if (base <= most) reached[static_cast<std::size_t>(base / block)] = 1;
    }
    for (const auto& [size, count] : counts) {
      // Buffers of this size on the way to each height.
      std::vector<std::int64_t> taken(reached.size(), 0);
      for (auto h = static_cast<std::size_t>(size / block); h < reached.size(); ++h) {
        const std::size_t below = h - static_cast<std::size_t>(size / block);
        if (reached[h] || !reached[below] || taken[below] == count) continue;
        reached[h] = 1;
        taken[h] = taken[below] + 1;
      }
    }
    return std::ranges::any_of(tops, [&](Bytes top) {
      if (top > most) return false;
      const Bytes first = std::max<Bytes>(0, least - top);
      for (Bytes cell = first / block + (first % block != 0); cell <= (most - top) / block;
           ++cell) {
        if (reached[static_cast<std::size_t>(cell)]) return true;
      }
      return false;
    });
  }

  const LayoutInstance& instance_;
  const InfeasibilityProof& proof_;
  InfeasibilityCheck check_;
};

}  // namespace

std::vector<Violation> check_infeasibility(const LayoutInstance& instance,
                                           const InfeasibilityProof& proof) {
  return LayoutProof(instance, proof).run();
}

}  // namespace stowage
