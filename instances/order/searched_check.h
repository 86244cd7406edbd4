// Whether no order joins what a search began with and what it ended with: all sets of operators in
// between, from the definition of memory alone. Part of the check of certificates (certificate.h).
//
//   check_searched(instance, truth, precedences, finder, searched, bound, found);
#pragma once

#include "instances/order/certificate.h"
#include "instances/order/flow_check.h"
#include "instances/order/flow_finder.h"
#include "instances/order/instance.h"
#include "instances/order/truth.h"
#include "instances/units.h"
#include "instances/violation_list.h"

namespace stowage {

// `found`, a list of kFlowRuleNames, gets what does not hold: then nothing is proven. `finder`
// knows no precedence but those of `precedences`; the flows that it finds are added up
// (flow_check.h). Where an operator can run that raises nothing, no other one is tried [OC1].
void check_searched(const OrderInstance& instance, const OrderTruth& truth,
                    const Precedences& precedences, FlowFinder& finder,
                    const SearchedSets& searched, Bytes bound, ViolationList& found);

}  // namespace stowage
