// A proof that no plan of a scatter step is faster than some number of milliseconds.
//
// The proof is a set of prices. Time is cut into intervals of makespans. In each interval, a
// millisecond and a token of a group of each degree have a price, and each sequence has a value. If
// no micro-batch can hold sequences of more value than its makespan T, then any plan lasts at least
// as long as the sum of all values. docs/theory/scatter.md, "The step LP", states this as an
// inequality with numbers. check_certificate() tests it with arithmetic alone, from the instance
// alone, so that the finder of the prices need not be trusted.
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

#include "instances/scatter/cost/time_grid.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/table/group_form.h"
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

// A group form that a certificate has prices for. A group of this form lasts at least its overhead
// plus, for each of its sequences, `weight` times the sequence's compute and 1 - weight times its
// transfer (cost/cost_model.h). It pays for this time. If times are measured, it pays for the times
// of a plane that lies below the measured times wherever groups of the step can be.
struct CertificateLevel {
  int degree = 0;
  ExchangeKind exchange = ExchangeKind::none;
  double weight = 1;  // in [0, 1]
  int recomputation = 0;
  int place = 0;     // device pool of table/device_pools.h
  AffineTime below;  // the plane; none of its numbers is negative

  GroupForm form() const { return {degree, exchange, recomputation, place}; }
};

// The prices of a group of one degree in an interval.
struct DegreePrices {
  double time = 0;    // ms per ms of its time after the overhead
  double tokens = 0;  // ms per token
  std::vector<PackingPrice> packing;
};

// Makespans from `from` up to the next interval's `from`; the last interval is unbounded.
struct PriceInterval {
  Ms from = 0;
  std::vector<DegreePrices> degrees;  // one per level, see ScatterCertificate
};

// A step that satisfies the conditions on the way from the root. In a pipeline of p stages the
// longest makespan counts p - 1 times more. It is at least that of the longest sequence alone, and
// at least the highest `from` of a condition that some micro-batch lasts so long.
struct CertificateLeaf {
  std::vector<PriceInterval> intervals;  // ascending, the first from at most the least overhead
  std::vector<double> values;            // ms per sequence; one per distinct padded length, longest
                                         // first
  double micro_batch = 0;                // ms per micro-batch
  std::vector<double> conditions;        // ms per micro-batch; one per condition, root first
};

// Either a leaf, or two cases that cover all steps: at most `at_most` micro-batches have makespan
// `from` or more (child `fewer`), or at least one more (child `more`).
struct CertificateNode {
  bool is_leaf = true;
  Ms from = 0;
  std::int64_t at_most = 0;
  std::size_t fewer = 0;
  std::size_t more = 0;
  CertificateLeaf leaf;
};

// The prices of a group of one degree in one micro-batch of a profile.
struct GroupPrices {
  double time = 0;   // ms per ms of its time after the overhead
  double group = 0;  // ms for the group
};

// A set of makespans T_0 >= T_1 >= ... of a given number of micro-batches, of a step that takes
// less than the bound: each makespan lies in a range. The set is split in two, or excluded by
// prices, or left open because even the least makespans make a step as long as the bound. In a
// pipeline of p stages T_0 counts p times.
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

// The proof has either prices per interval of makespans (`nodes`), or trees of single makespans
// (`profiles`). profiles[i] covers steps of M0 + i k micro-batches, where M0 is the fewest possible
// and k divides their number. For more micro-batches than these, the overheads and the device time
// must prove the bound [B2].
//
// Levels are sorted by degree. Every other form that groups may have needs a level of its degree
// that is never worse: with no more overhead, no more time for any sequence and no less memory. For
// all forms of one recomputation mode, these levels must be of one mode. Intervals hold for
// micro-batches of each mode separately; profiles may mix modes, which relaxes. Without levels
// there is one per form, in the order of group_forms(), of weight 1.
struct ScatterCertificate {
  Ms bound_ms = 0;
  std::vector<CertificateLevel> levels;
  // Weights of the kinds of devices, in the value that a group earns for its devices and in the
  // value that all devices earn. Empty: 1 each.
  std::vector<double> kind_weights;
  std::vector<CertificateNode> nodes;  // the root first; children after their parents
  std::vector<ProfileTree> profiles;
};

struct CertificateCheck {
  std::vector<Violation> violations;
  Ms bound_ms = 0;  // the proven bound: that of the certificate, 0 if there are violations
};

// Rules:
//   certificate_number     every number is finite and every price at least 0
//   certificate_tree       every node but the root is the child of exactly one earlier node
//   certificate_levels     levels are forms that groups may have, by degree, each once, weights
//   from
//                            0 to 1; every other form has a level of its degree that is never
//                            worse;
//                            each kind of devices has one positive weight, or no kind has one.
//                            Planes are below the measured times, and 0 without such times
//   certificate_intervals  intervals ascend, begin at or below the least overhead, and have one
//                          entry per level
//   certificate_values     one value per distinct padded length
//   certificate_conditions one price per condition on the way to the leaf
//   certificate_packing    steps in [1, 1000000], or a threshold in (0, half the room]; none on the
//                          time of the endless interval
//   certificate_interval   no micro-batch of the interval is worth more than its makespan
//   certificate_profile    profiles have the right numbers of makespans, levels and lengths, and
//                            their trees are trees
//   certificate_pattern    no set of sequences that a group can hold is worth more than its price
//   certificate_bound      bound_ms is at most the bound of the leaves
// Arithmetic is long double. The inequality must hold with its left side raised by 1e-12 and the
// value lowered by 1e-12, which is thousands of times the rounding error. Requires an instance as
// the reader returns it; the certificate may hold any values. O(nodes intervals degrees lengths
// packing).
CertificateCheck check_certificate(const ScatterInstance& instance,
                                   const ScatterCertificate& certificate);

// Returns the names of the rules, in the order above.
std::vector<std::string_view> certificate_rules();

}  // namespace stowage
