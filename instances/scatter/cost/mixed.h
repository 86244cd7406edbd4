// The makespan of a micro-batch: that of its slowest group, or of a mixed micro-batch.
//
// In a mixed micro-batch (ScatterInstance::mixed) all N devices share one row of S tokens, and each
// device has a row of its own beside it, or none. t_N is the time of the shared row, X the
// all-to-all in it, h the hidden_share, and w_j the time of the row of device j without its
// fixed_ms, which the micro-batch pays once. Work on its own row hides what it can of h X:
//
//   makespan = t_N - h X + max(h X, max over j of w_j)
//
// Source: Skrull (arXiv 2505.19609, section 4.1), where h is 1. The verifier does not use this
// file.
//
// Thread safety: its functions read their arguments and nothing else.
#pragma once

#include <optional>
#include <span>

#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"

namespace stowage {

// Returns whether this is a group of all devices that rows of single devices may stand beside.
inline bool is_shared_row(const ScatterInstance& instance, int degree) {
  return instance.mixed && degree == instance.cluster.devices;
}

// Returns h X in ms for a shared row of so many tokens. Requires ScatterInstance::mixed.
Ms hidden_exchange_ms(const ScatterInstance& instance, Tokens tokens);

// Returns the makespan of groups whose times are known.
Ms makespan_ms(const ScatterInstance& instance, std::span<const ScatterGroup> groups);

// Returns the device-ms in which devices of such a micro-batch compute or exchange; they idle for
// the rest of the makespan.
double busy_device_ms(const ScatterInstance& instance, std::span<const ScatterGroup> groups);

// The parts of a mixed micro-batch, ms.
struct MixedTimes {
  Ms before = 0;  // the overhead
  Ms beside = 0;  // the own rows, or the hidden exchange if that is longer
  Ms shared = 0;  // the rest of the shared row
};

// Returns the parts, whose sum is the makespan, or nullopt if the groups are not those of a mixed
// micro-batch: one shared row, and an own row at least.
std::optional<MixedTimes> mixed_times(const ScatterInstance& instance,
                                      std::span<const ScatterGroup> groups);

}  // namespace stowage
