// Checks that no order joins the two ends of a search. It goes through all sets of operators in
// between, by the definition of memory alone. A part of the check of certificates (certificate.h).
//
//   check_searched(instance, truth, precedences, finder, searched, bound, found);
#pragma once

#include "instances/order/certificate.h"
#include "instances/order/instance.h"
#include "instances/order/verify/flow_check.h"
#include "instances/order/verify/flow_finder.h"
#include "instances/order/verify/reference_model.h"
#include "instances/proof/violation_list.h"
#include "instances/units.h"

namespace stowage {

// Adds each broken rule to `found`, a list of kFlowRuleNames; with any of them nothing is proven.
// `finder` has the precedences of `precedences` only, and its flows are added up (flow_check.h). If
// an operator can run that raises nothing, no other operator is tried [OC1].
void check_searched(const OrderInstance& instance, const OrderReferenceModel& truth,
                    const Precedences& precedences, FlowFinder& finder,
                    const SearchedSets& searched, Bytes bound, ViolationList& found);

}  // namespace stowage
