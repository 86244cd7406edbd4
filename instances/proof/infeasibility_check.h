// The checks that the infeasibility proofs of all families share. Not installed.
//
//   InfeasibilityCheck check(proof, {{"sequences", ProofParts::witnesses}});   // the family's proofs
//   check.sequences_longer_than(truth, room);
//   return std::move(check).take();
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "instances/proof.h"
#include "instances/proof/violation_list.h"
#include "instances/units.h"

namespace stowage {

// The parts of a proof beside its name.
enum class ProofParts { none, witnesses, witnesses_and_step };

struct KnownProof {
  std::string_view by;
  ProofParts parts = ProofParts::none;
};

class InfeasibilityCheck {
 public:
  // Appends violations if the family has no proof of this name, and if witnesses do not ascend.
  // Also appends one if the proof has witnesses or a step that a proof of its name must not have.
  InfeasibilityCheck(const InfeasibilityProof& proof, std::initializer_list<KnownProof> known)
      : proof_(proof) {
    std::string names = "none";
    bool found = proof.by == names;
    ProofParts parts = ProofParts::none;
    for (const KnownProof& each : known) {
      names += ", " + std::string(each.by);
      if (proof.by != each.by) continue;
      found = true;
      parts = each.parts;
    }
    if (!found) {
      found_.add(kBy, [&] {
        return Description{"/infeasibility/by", '"' + proof_.by + '"', "one of " + names};
      });
      return;
    }
    if (parts == ProofParts::none && !proof.witnesses.empty()) {
      found_.add(kWitness, [&] {
        return Description{"/infeasibility/witnesses", text(proof_.witnesses.size()) + " of them",
                           "none: a proof by " + proof_.by + " has no witnesses"};
      });
    }
    if (parts != ProofParts::witnesses_and_step && proof.step) {
      wrong("/step", "step " + text(*proof.step), "none: a proof by " + proof.by + " has no step");
    }
    for (std::size_t k = 1; k < proof.witnesses.size(); ++k) {
      if (proof.witnesses[k] > proof.witnesses[k - 1]) continue;
      ascends_ = false;
      wrong_witness(k, text(proof.witnesses[k]),
                    "more than the witness before, " + text(proof.witnesses[k - 1]));
    }
  }

  // Returns whether each witness is greater than the witness before it.
  bool ascends() const { return ascends_; }

  // Checks that there is a witness, and that each witness is a sequence of more than `room` tokens,
  // padding included.
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

  // Reports a claim without a proof that a plan refutes.
  void plan_exists() {
    wrong("/by", "none, and verify finds a plan", "a plan: the instance has one");
  }

  std::vector<Violation> take() && { return std::move(found_).take(); }

 private:
  enum Rule : std::size_t { kBy, kWitness, kProof };
  static constexpr std::array<std::string_view, 3> kRules = {kInfeasibilityBy,
                                                             kInfeasibilityWitness, kInfeasibility};

  const InfeasibilityProof& proof_;
  ViolationList found_{kRules};
  bool ascends_ = true;
};

}  // namespace stowage
