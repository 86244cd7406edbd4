// The walk over a certificate of a scatter instance: its levels, the tree of its nodes, and the
// inequality of each interval of a leaf. Not installed: check_certificate() calls it.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "instances/numeric/tolerances.h"
#include "instances/proof/violation_list.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/verify/profile_check.h"
#include "instances/scatter/verify/reference_counts.h"
#include "instances/scatter/verify/reference_model.h"

namespace stowage {

class ScatterCertificateChecker {
 public:
  enum Rule : std::size_t {
    kNumber,
    kTree,
    kLevels,
    kIntervals,
    kValues,
    kConditions,
    kPacking,
    kInterval,
    kProfile,
    kPattern,
    kBound,
    kRuleCount,
  };

  static constexpr std::array<std::string_view, kRuleCount> kRuleNames = {
      "certificate_number",    "certificate_tree",     "certificate_levels",
      "certificate_intervals", "certificate_values",   "certificate_conditions",
      "certificate_packing",   "certificate_interval", "certificate_profile",
      "certificate_pattern",   "certificate_bound"};

  ScatterCertificateChecker(const ScatterInstance& instance, const ScatterCertificate& certificate);
  CertificateCheck run() &&;

 private:
  struct Condition {
    Ms from = 0;
    bool at_least = false;
    std::int64_t count = 0;
  };

  Real longest_alone(const ScatterReferenceModel& truth, const LengthCounts& counts) const;
  void weigh_devices(const ScatterInstance& instance);
  Real share(const ScatterReferenceModel& truth, GroupForm form) const;
  static bool is_form(const ScatterReferenceModel& truth, GroupForm form);
  static Real overhead(const ScatterReferenceModel& truth, GroupForm form);
  static Real adds(const ScatterReferenceModel& truth, Tokens tokens, GroupForm form, Real weight);
  Real pays(const ScatterReferenceModel& truth, Tokens tokens, const CertificateLevel& level) const;
  bool plane_holds(const ScatterReferenceModel& truth, const CertificateLevel& level) const;
  static ScatterReferenceModel::Limit limit(const ScatterReferenceModel& truth, GroupForm form,
                                            const LengthCounts& counts, Tokens shortest);
  void check_levels(const ScatterReferenceModel& truth, const LengthCounts& counts,
                    Tokens shortest);
  bool is_covered(const ScatterReferenceModel& truth, GroupForm form, int way,
                  const LengthCounts& counts, Tokens shortest) const;
  bool never_smaller(const ScatterReferenceModel& truth, std::size_t l, GroupForm form,
                     const ScatterReferenceModel::Limit& theirs) const;
  bool never_worse(const ScatterReferenceModel& truth, std::size_t l, GroupForm form) const;
  static std::string node_at(std::size_t n) { return "/nodes/" + text(n); }
  void number(const std::string& where, double have);
  void check_number(double value, auto where) {
    if (!std::isfinite(value) || value < 0) number(where(), value);
  }

  void check_makespans();
  bool check_tree();
  std::vector<Condition> conditions_of(std::size_t leaf) const;
  std::optional<Real> check_leaf(std::size_t n);
  void check_shape(const CertificateLeaf& leaf, const std::string& at, std::size_t conditions);
  void check_numbers(const CertificateLeaf& leaf, const std::string& at);
  std::optional<Real> room(const CertificateLeaf& leaf, std::size_t i, std::size_t d) const;
  void check_packing(const PackingPrice& packing, std::optional<Real> time, Tokens tokens,
                     auto where);
  static Real packed(const PackingPrice& packing, Real amount, Real all);
  void check_interval(const CertificateLeaf& leaf, std::size_t i, int way,
                      const std::vector<Condition>& conditions, const std::string& at);
  Real least_price(const CertificateLeaf& leaf, std::size_t i, std::size_t s, int way) const;

  bool measured_ = false;  // times are looked up in a table
  const Cluster& cluster_;
  const ScatterRules& rules_;
  const ScatterCertificate& certificate_;
  ViolationList found_;
  std::vector<GroupForm> forms_;  // that groups may have
  bool levels_hold_ = true;       // certificate_levels
  std::vector<int> degrees_;      // per level
  std::vector<Real> shares_;      // per level: the sum of its devices' weights
  Real all_devices_ = 0;          // of all of them
  std::vector<int> ways_;         // per level: recomputation mode
  std::set<int> ways_used_;
  std::vector<ScatterReferenceModel::Limit> limits_;  // of a group, per level
  std::vector<Tokens> capacity_;                      // of these the tokens
  std::vector<Tokens> beside_;          // tokens that each sequence takes beside its own
  std::vector<Real> overhead_;          // ms per group, per level
  std::vector<CertificateSort> sorts_;  // longest first
  std::int64_t fewest_ = 0;
  int longest_weight_ = 0;  // times that the longest makespan counts beside the sum
  Real alone_ = 0;          // least value of the longest makespan, if that counts
  std::vector<std::size_t> parent_;
  std::vector<std::size_t> depth_;  // conditions from the root
};

}  // namespace stowage
