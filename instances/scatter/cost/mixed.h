// The makespan of a micro-batch: that of its slowest group, or of a mixed micro-batch.
//
// In a mixed micro-batch (ScatterInstance::mixed) all N devices share one row of S tokens, and a
// device may have a row of its own as well. t_N is the time of the shared row, X the time of the
// all-to-all in it, and h the hidden_share. w_j is the time of the row of device j without its
// fixed_ms, because the micro-batch pays fixed_ms once. A device computes its own row during the
// exchange, so that the part h X of the exchange and w_j cost no more than the larger of them:
//
//   makespan = t_N - h X + max(h X, max over j of w_j)
//
// Source: Skrull (arXiv 2505.19609, section 4.1), where h is 1. The verifier does not use this
// file.
//
// Thread safety: its functions read their arguments and nothing else.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"

namespace stowage {

// Returns whether this is a group of all devices that rows of single devices may stand beside.
inline bool is_shared_row(const ScatterInstance& instance, int degree) {
  return instance.mixed && degree == instance.cluster.devices;
}

// Returns the time h X, in ms, for a shared row of this many tokens. Requires
// ScatterInstance::mixed.
Ms hidden_exchange_ms(const ScatterInstance& instance, Tokens tokens);

// Returns the makespan of groups whose times are known.
Ms makespan_ms(const ScatterInstance& instance, std::span<const ScatterGroup> groups);

// Returns the device-ms in which devices of such a micro-batch compute or exchange; they idle for
// the rest of the makespan.
double busy_device_ms(const ScatterInstance& instance, std::span<const ScatterGroup> groups);

// The parts of a mixed micro-batch, ms. The makespan is before + beside + shared.
struct MixedTimes {
  Ms before = 0;  // the overhead
  Ms hidden = 0;  // h X
  Ms beside = 0;  // the slowest own row, or `hidden` if that is longer
  Ms shared = 0;  // the rest of the shared row
};

// Returns the parts, or nullopt if the groups are not those of a mixed
// micro-batch: one shared row, and an own row at least.
std::optional<MixedTimes> mixed_times(const ScatterInstance& instance,
                                      std::span<const ScatterGroup> groups);

// Returns the indices of the groups that a trainer without hidden exchanges runs side by side, one
// list after another: one list of all groups, or for a mixed micro-batch the shared row and then
// the own rows.
std::vector<std::vector<std::size_t>> groups_at_once(const ScatterInstance& instance,
                                                     std::span<const ScatterGroup> groups);

}  // namespace stowage
