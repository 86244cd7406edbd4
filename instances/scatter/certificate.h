// A proof that no plan of a scatter step is faster than some number of milliseconds.
//
// The proof is a set of prices. Time is cut into intervals of makespans; in each of them a
// millisecond and a token of a group of each degree have a price, and each sequence has a value.
// If no micro-batch can hold sequences of more value than its makespan T, then any plan lasts at
// least as long as the sum of all values. formulations/README.md, "The step LP",
// states this as an inequality with numbers; check_certificate tests it with arithmetic alone, from
// the instance and nothing else, so that it does not matter who found the prices or how.
//
//   const CertificateCheck check = check_certificate(instance, certificate);
//   if (check.violations.empty()) std::cout << "no plan is faster than " << check.bound_ms;
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "instances/scatter/group_form.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/time_grid.h"
#include "instances/violation.h"

namespace stowage {

enum class Resource { time, tokens };

// A dual feasible function f of the share x of one resource that a sequence takes of its group: if
// the shares of a group sum to at most 1, so do the values f(x) [P1, P2].
//   threshold == 0  f(x) = (ceil((steps + 1) x) - 1) / steps
//   threshold > 0   f(x) = 1 where x room > room - threshold, x where x room >= threshold, else 0;
//                   in tokens or ms, at most half the room
struct PackingPrice {
  Resource resource = Resource::time;
  std::int64_t steps = 0;
  double threshold = 0;
  double price = 0;  // ms for a whole group
};

// A form of groups that a certificate has prices for. A group of it lasts at least its overhead and
// the sum, over its sequences, of `weight` times what each adds to compute and 1 - weight times
// what it adds to transfer (cost_model.h); this is the time that it pays for. Where times are
// measured it pays for those of a plane that lies below them wherever groups of the step can be.
struct CertificateLevel {
  int degree = 0;
  ExchangeKind exchange = ExchangeKind::none;
  double weight = 1;  // in [0, 1]
  int recomputation = 0;
  int place = 0;     // see devices.h
  AffineTime below;  // the plane; no number below 0

  GroupForm form() const { return {degree, exchange, recomputation, place}; }
};

// What a group of one degree pays in an interval.
struct DegreePrices {
  double time = 0;    // ms per ms of its time after the overhead
  double tokens = 0;  // ms per token
  std::vector<PackingPrice> packing;
};

// Makespans from `from` up to the next interval's, the last one without end.
struct PriceInterval {
  Ms from = 0;
  std::vector<DegreePrices> degrees;  // one per level, see ScatterCertificate
};

// A step for which the conditions on the way from the root hold. In a pipeline of p stages the
// longest makespan counts p - 1 times besides. It is at least that of the longest sequence alone,
// and the highest `from` of a condition on the way that some micro-batch lasts so long.
struct CertificateLeaf {
  std::vector<PriceInterval> intervals;  // ascending, the first from at most the least overhead
  std::vector<double> values;            // ms per sequence; one per distinct padded length, longest
                                         // first
  double micro_batch = 0;                // ms per micro-batch
  std::vector<double> conditions;        // ms per micro-batch; one per condition, root first
};

// Either a leaf, or two cases that leave nothing out: at most `at_most` micro-batches with makespan
// `from` or more (child `fewer`), or at least one more than that (child `more`).
struct CertificateNode {
  bool is_leaf = true;
  Ms from = 0;
  std::int64_t at_most = 0;
  std::size_t fewer = 0;
  std::size_t more = 0;
  CertificateLeaf leaf;
};

// What a group of one degree pays in one micro-batch of a profile.
struct GroupPrices {
  double time = 0;   // ms per ms of its time after the overhead
  double group = 0;  // ms for the group
};

// A set of makespans T_0 >= T_1 >= ... of exactly so many micro-batches, of a step that takes less
// than the bound: makespans of micro-batches one by one, each from some time up to another. Either
// split in two, or out of reach by prices, or left open because even with the least makespans the
// step takes as long as the bound. In a pipeline of p stages T_0 counts p times.
struct ProfileNode {
  enum class Kind { open, split, priced };
  Kind kind = Kind::open;
  std::size_t batch = 0;  // split: T_batch < at (child `below`) or T_batch >= at (child `above`)
  Ms at = 0;
  std::size_t below = 0;
  std::size_t above = 0;
  std::vector<double> values;  // priced: ms per sequence, per distinct padded length, longest first
  std::vector<std::vector<GroupPrices>> batches;  // per micro-batch and level
};

using ProfileTree = std::vector<ProfileNode>;  // the root first; children after their parents

// Prices per interval of makespans (`nodes`), or makespans one by one (`profiles`), not both.
// profiles[i] is about steps of M0 + i k micro-batches, M0 being the fewest there can be and k the
// number of which there must be a multiple; of more micro-batches than these the overheads and the
// device time must prove it [B2].
//
// Levels are by degree. A form that groups may have and that is not among them needs one of its
// degree that is: with no more overhead, no more time for any sequence and no less memory; for
// the forms of one way to recompute those are of one way. Intervals hold for micro-batches of each
// way by itself, profiles for such as mix them, which relaxes. Without levels there is one per
// form, in the order of group_forms(), of weight 1.
struct ScatterCertificate {
  Ms bound_ms = 0;
  std::vector<CertificateLevel> levels;
  // What a device of each kind counts in what a group earns for its devices and in what all devices
  // earn. Empty: 1 each.
  std::vector<double> kind_weights;
  std::vector<CertificateNode> nodes;  // the root first; children after their parents
  std::vector<ProfileTree> profiles;
};

struct CertificateCheck {
  std::vector<Violation> violations;
  Ms bound_ms = 0;  // what is proven: the certificate's own bound, 0 if there are violations
};

// Rules:
//   certificate_number     every number is finite and every price at least 0
//   certificate_tree       every node but the root is the child of exactly one earlier node
//   certificate_levels     levels are forms that groups may have, by degree, each once, weights from
//                          0 to 1; every other form has one of its degree that is never worse;
//                          kinds of devices have one positive weight each, or none has one.
//                          Planes are below the measured times, and 0 where there are none
//   certificate_intervals  intervals ascend, begin at or below the least overhead, and have one
//                          entry per level
//   certificate_values     one value per distinct padded length
//   certificate_conditions one price per condition on the way to the leaf
//   certificate_packing    steps in [1, 1000000], or a threshold in (0, half the room]; none on the
//                          time of the endless interval
//   certificate_interval   no micro-batch of the interval is worth more than it lasts
//   certificate_profile    profiles have the numbers of makespans, levels and lengths that they
//                          should, and their trees are trees
//   certificate_pattern    no set of sequences that a group can hold is worth more than it pays
//   certificate_bound      bound_ms is at most what the leaves prove
// Arithmetic is long double, and the inequality must hold with its left side raised by 1e-12 and
// the value lowered by 1e-12, which is thousands of times what rounding can do. Requires an
// instance as the reader returns it; any certificate at all may be handed in. O(nodes intervals
// degrees lengths packing).
CertificateCheck check_certificate(const ScatterInstance& instance,
                                   const ScatterCertificate& certificate);

// Names of the rules, in the order above.
std::vector<std::string_view> certificate_rules();

}  // namespace stowage
