// The proofs of verify.h that there is no plan. Shares no line with whoever finds them.
#include <algorithm>
#include <numeric>
#include <string>

#include "instances/infeasibility_check.h"
#include "instances/layout/verify.h"

namespace stowage {
namespace {

class LayoutProof {
 public:
  LayoutProof(const LayoutInstance& instance, const InfeasibilityProof& proof)
      : instance_(instance), proof_(proof), check_(proof, {"pins", "capacity", "load"}) {}

  std::vector<Violation> run() && {
    if (proof_.by == "pins") pins();
    if (proof_.by == "capacity") capacity();
    if (proof_.by == "load") load();
    return std::move(check_).take();
  }

 private:
  const Buffer& witness(std::size_t k) const {
    return instance_.buffers[static_cast<std::size_t>(proof_.witnesses[k])];
  }

  // Whether all witnesses are buffers, each another than the one before, that need memory at the
  // step if there is one.
  bool witnesses_count(std::size_t least, bool at_step) {
    check_.at_least(least);
    bool good = proof_.witnesses.size() >= least;
    if (at_step && !proof_.step) {
      check_.wrong("/step", "no step", "one");
      return false;
    }
    const auto buffers = static_cast<std::int64_t>(instance_.buffers.size());
    for (std::size_t k = 0; k < proof_.witnesses.size(); ++k) {
      const std::int64_t b = proof_.witnesses[k];
      const bool known = b >= 0 && b < buffers;
      const bool ascends = k == 0 || b > proof_.witnesses[k - 1];
      if (known && ascends && (!at_step || lives(witness(k), *proof_.step))) continue;
      good = false;
      check_.wrong_witness(k, "buffer " + text(b),
                           std::string("a buffer after the one before") +
                               (at_step ? " that needs memory at the step" : ""));
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

  void load() {
    if (!witnesses_count(1, true)) return;
    Bytes block = 0;
    for (std::size_t k = 0; k < proof_.witnesses.size(); ++k) {
      if (witness(k).size == 0) continue;
      block = std::gcd(block, std::lcm(instance_.alignment, witness(k).alignment));
    }
    if (block == 0) block = 1;  // nobody needs a byte
    Bytes need = 0;             // of whole blocks: at most 2^53, as the reader checked
    Bytes cut = 0;              // the most that a buffer leaves of its last block
    for (std::size_t k = 0; k < proof_.witnesses.size(); ++k) {
      const Bytes size = witness(k).size;
      if (size == 0) continue;
      const Bytes left = (block - size % block) % block;
      need += size + left;
      cut = std::max(cut, left);
    }
    need -= cut;
    if (instance_.capacity && need > *instance_.capacity) return;
    check_.wrong(
        "/witnesses", text(need) + " bytes at once",
        instance_.capacity ? "more than the capacity, " + text(*instance_.capacity) : "a capacity");
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
