// A proof that no order of a graph has a smaller peak than some number of bytes.
//
// Before an operator v runs, all operators that v depends on have run, and no operator that depends
// on v. Of all sets of operators that can have run by then, the least live memory is a minimum cut.
// A flow of the same value proves that no set leaves less (docs/theory/order.md, "Cut of an
// operator"). The certificate holds that flow. check_certificate() adds the flow up again, from the
// instance alone, so that its finder need not be trusted.
//
// Cuts also prove precedences that every order with a peak below the bound must keep ("Forced
// precedences"): if v needs too much once u has run, u runs behind v. A certificate may begin with
// a list of such pairs, each of which holds because of the pairs before it. Their flows would fill
// pages, so the check finds the flows again and adds each of them up.
//
// Alternatively, a certificate lists operators that all better orders may begin and end with. The
// check then goes through the sets of operators that can have run in between.
//
//   const OrderCertificateCheck check = check_certificate(instance, certificate);
//   if (check.violations.empty()) std::cout << "no order needs less than " << check.bound_bytes;
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "instances/order/instance.h"
#include "instances/violation.h"

namespace stowage {

// In every order with a peak below the bound, `second` runs behind `first`. If it did not, the step
// of `op`, which is `first` or `second`, would need at least the bound.
struct ForcedPrecedence {
  std::int64_t first = 0;
  std::int64_t second = 0;
  std::int64_t op = 0;

  bool operator==(const ForcedPrecedence&) const = default;
};

// Returns the most forced precedences that a certificate may list, since the check makes a minimum
// cut for each. It is 0 for graphs of more than 4,096 operators.
std::int64_t most_forced_of(const OrderInstance& instance);

// If an order has a peak below the bound, then some such order begins with `first` and ends with
// `last`, because no set on the way leaves less memory live. But no order of a peak below the bound
// joins the two (docs/theory/order.md, OC2).
struct SearchedSets {
  std::vector<std::int64_t> first;  // operators, in the order in which they run
  std::vector<std::int64_t> last;   // operators, as they run, up to the end
  bool from_end = false;            // the check takes operators back from `last`
  std::int64_t states = 0;          // upper limit of the sets in between that the check reaches

  bool operator==(const SearchedSets&) const = default;
};

// Returns the most states that a certificate may have, since the check goes through all of them.
std::int64_t most_states_of(const OrderInstance& instance);

struct OrderCertificate {
  static constexpr std::int64_t kEnd = -1;  // the end of the graph, which keeps the outputs

  Bytes bound_bytes = 0;
  std::vector<ForcedPrecedence> forced;  // the flow below may use them as precedences
  std::optional<SearchedSets> searched;  // instead of the flow of an operator, below
  std::int64_t op = 0;                   // v
  // [tensor, operator that reads or updates it or kEnd, bytes]: flow along the tensor.
  std::vector<std::vector<std::int64_t>> tensors;
  // [operator, operator that must run before it, bytes]: flow back along a precedence.
  std::vector<std::vector<std::int64_t>> precedences;

  bool operator==(const OrderCertificate&) const = default;
};

struct OrderCertificateCheck {
  std::vector<Violation> violations;
  Bytes bound_bytes = 0;  // the proven bound: that of the certificate, 0 if there are violations
};

// If an operator may run again, if there is a host, or if the objective is the time, no certificate
// proves anything; the rule certificate_bound reports it. Rules:
//   certificate_number       entries have three numbers, indices that exist and amounts from 0 on
//   certificate_arc          a flow goes from a tensor to an operator that touches it, or from an
//                            operator to one that must run before it, and does not begin at an
//                            operator that needs v
//   certificate_capacity     the flow along a tensor is at most its size
//   certificate_conservation the flow into an operator that may or may not run before v flows out
//   certificate_bound        flow, outputs and workspace of v reach bound_bytes
//   certificate_forced       a forced precedence names two operators of which either may run first
//                            so far; its `op` is one of the two and would need bound_bytes without
//                            the precedence. The list is no longer than most_forced_of()
//   certificate_commit       `first` and `last` list operators, each at most once, that can run in
//                            that order; their steps need less than bound_bytes; no set on the way
//                            has less live memory than the set behind `first`, or before `last`
//   certificate_search       steps of less than bound_bytes lead from one end to at most `states`
//                            sets, and not to the other end. `states` is at most most_states_of().
//                            The check takes some seconds at most
// Requires an instance as the reader returns it; the certificate may hold any values. The time is
// linear in the instance and in the certificate times the tensors of an operator. A minimum cut for
// each forced precedence and the search of the states come on top.
OrderCertificateCheck check_certificate(const OrderInstance& instance,
                                        const OrderCertificate& certificate);

// Returns the names of the rules, in the order above.
std::vector<std::string_view> order_certificate_rules();

}  // namespace stowage
