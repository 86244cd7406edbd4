// A proof that no order of a graph has a smaller peak than some number of bytes.
//
// Before an operator v runs, all that it depends on has run, and nothing that depends on it. Of all
// sets of operators that can have run by then, the least live memory is a minimum cut, and a flow
// of the same value proves that there is no less (formulations/README.md, "Cut of an operator").
// The certificate holds that flow; check_certificate adds it up again, from the instance and
// nothing else, so that it does not matter who found it or how.
//
// Cuts also say who must run before whom in every order with a peak below the bound ("Forced
// precedences"): where v needs too much once u has run, u runs behind v. A certificate may begin
// with a list of such pairs, each of which holds because of those before it. Their flows would fill
// pages; the check finds flows again, and adds each of them up.
//
// Or it says what all better orders may as well begin and end with, and the check goes through the
// sets of operators that can have run in between.
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

// In every order with a peak below the bound, `second` runs behind `first`: if it did not, `op`,
// one of the two, would need no less than the bound at its step.
struct ForcedPrecedence {
  std::int64_t first = 0;
  std::int64_t second = 0;
  std::int64_t op = 0;

  bool operator==(const ForcedPrecedence&) const = default;
};

// How many a certificate may list: the check makes a minimum cut for each. None of graphs with more
// than 4,096 operators.
std::int64_t most_forced_of(const OrderInstance& instance);

// If there is an order with a peak below the bound, there is one that begins with `first` and ends
// with `last`, as no set on the way leaves less live behind; but no order joins the two
// (formulations/README.md, OC2).
struct SearchedSets {
  std::vector<std::int64_t> first;  // operators, as they run
  std::vector<std::int64_t> last;   // likewise, up to the end
  bool from_end = false;            // sets are gone through from `last` down, not from `first` up
  std::int64_t states = 0;          // sets in between that the check comes to, at most

  bool operator==(const SearchedSets&) const = default;
};

// How many states a certificate may have: the check goes through all of them.
std::int64_t most_states_of(const OrderInstance& instance);

struct OrderCertificate {
  static constexpr std::int64_t kEnd = -1;  // stands for whoever keeps an output

  Bytes bound_bytes = 0;
  std::vector<ForcedPrecedence> forced;  // the flow below may use them as precedences
  std::optional<SearchedSets> searched;  // instead of the flow of an operator, below
  std::int64_t op = 0;                   // v
  // [tensor, operator that reads or updates it or kEnd, bytes]: flow along the tensor.
  std::vector<std::vector<std::int64_t>> tensors;
  // [operator, one that must run before it, bytes]: flow back along a precedence.
  std::vector<std::vector<std::int64_t>> precedences;

  bool operator==(const OrderCertificate&) const = default;
};

struct OrderCertificateCheck {
  std::vector<Violation> violations;
  Bytes bound_bytes = 0;  // what is proven: the certificate's own bound, 0 if there are violations
};

// Where an operator may run again, there is a host, or the objective is the time, no certificate
// proves anything: certificate_bound says so. Rules:
//   certificate_number       entries have three numbers, indices that exist and amounts from 0 on
//   certificate_arc          a flow goes from a tensor to one that touches it, or from an operator
//                            to one that must run before it, and begins at nothing that needs v
//   certificate_capacity     the flow along a tensor is at most its size
//   certificate_conservation what flows into an operator that may or may not run before v flows out
//   certificate_bound        flow, outputs and workspace of v reach bound_bytes
//   certificate_forced       a forced precedence names two operators of which either may run first
//                            so far, and one of them; without it, that one needs bound_bytes.
//                            There are no more of them than most_forced_of()
//   certificate_commit       `first` and `last` are operators, each once, that can run so; their
//                            steps need less than bound_bytes; no set on the way has less live
//                            than there is behind `first`, or before `last`
//   certificate_search       between the two, steps that need less than bound_bytes lead to no more
//                            than `states` sets, and not from one to the other. There are no more
//                            states than most_states_of(), and the check takes some seconds for
//                            them at most
// Requires an instance as the reader returns it; any certificate at all may be handed in. Linear in
// the instance and, times what an operator touches, in the certificate; a minimum cut for each
// forced precedence, and what the states take.
OrderCertificateCheck check_certificate(const OrderInstance& instance,
                                        const OrderCertificate& certificate);

// Names of the rules, in the order above.
std::vector<std::string_view> order_certificate_rules();

}  // namespace stowage
