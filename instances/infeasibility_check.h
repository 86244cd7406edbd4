// What the checks of all families' infeasibility proofs have in common. Not installed.
//
//   InfeasibilityCheck check(proof, {"sequences"});   // the proofs that the family knows
//   check.sequences_longer_than(truth, room);
//   return std::move(check).take();
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "instances/proof.h"
#include "instances/units.h"
#include "instances/violation_list.h"

namespace stowage {

class InfeasibilityCheck {
 public:
  InfeasibilityCheck(const InfeasibilityProof& proof, std::initializer_list<std::string_view> known)
      : proof_(proof) {
    std::string names = "none";
    bool found = proof.by == names;
    for (const std::string_view name : known) {
      found = found || proof.by == name;
      names += ", " + std::string(name);
    }
    if (found) return;
    found_.add(kBy, [&] {
      return Description{"/infeasibility/by", '"' + proof_.by + '"', "one of " + names};
    });
  }

  // Each witness is a sequence of more tokens, after padding, than there is room for; there is one.
  template <class Truth>
  void sequences_longer_than(const Truth& truth, Tokens room) {
    at_least(1);
    for (std::size_t k = 0; k < proof_.witnesses.size(); ++k) {
      const std::int64_t id = proof_.witnesses[k];
      if (!truth.is_known(id)) {
        wrong_witness(k, "sequence " + text(id), "an id of a sequence");
      } else if (const auto tokens = truth.length(id); tokens && *tokens <= room) {
        wrong_witness(k, "sequence " + text(id) + " of " + text(*tokens) + " tokens",
                      "more than " + text(room) + " tokens");
      }
    }
  }

  void at_least(std::size_t witnesses) {
    if (proof_.witnesses.size() >= witnesses) return;
    found_.add(kProof, [&] {
      return Description{"/infeasibility/witnesses", text(proof_.witnesses.size()) + " of them",
                         "at least " + text(witnesses)};
    });
  }

  void wrong_witness(std::size_t index, std::string have, std::string need) {
    found_.add(kWitness, [&] {
      return Description{"/infeasibility/witnesses/" + text(index), std::move(have),
                         std::move(need)};
    });
  }

  void wrong(std::string where, std::string have, std::string need) {
    found_.add(kProof, [&] {
      return Description{"/infeasibility" + where, std::move(have), std::move(need)};
    });
  }

  std::vector<Violation> take() && { return std::move(found_).take(); }

 private:
  enum Rule : std::size_t { kBy, kWitness, kProof };
  static constexpr std::array<std::string_view, 3> kRules = {kInfeasibilityBy,
                                                             kInfeasibilityWitness, kInfeasibility};

  const InfeasibilityProof& proof_;
  ViolationList found_{kRules};
};

}  // namespace stowage
