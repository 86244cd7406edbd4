// Runs the units of a pass of attention on the workers of the calling thread, if it has any.
//
//   run_units(shape, ForwardUnits(shape, arrays, unit_queries()), workspace);
#pragma once

#include <atomic>
#include <span>

#include "kernels/attention/attention_units.h"
#include "kernels/threads/workers.h"

namespace stowage::kernels {

// Returns the queries of a forward unit: whole sequences (0) for a thread alone.
inline std::int64_t unit_queries() { return Workers::of_this_thread() ? kUnitQueries : 0; }

// `workspace` is that of the calling thread. The other workers have one of the same size of their
// own. Units are begun in their order, as OrderedReduction requires.
template <class Units>
void run_units(const AttentionShape& shape, Units all, std::span<float> workspace) {
  Workers* workers = Workers::of_this_thread();
  const auto sequences = static_cast<double>(shape.cu_k.size());
  const double operations =
      4.0 * static_cast<double>(shape.q_size()) * static_cast<double>(shape.total_k) / sequences;
  if (workers == nullptr || operations < kSharedOperations) {
    while (all.next()) all.run(workspace);
    return;
  }
  // Every worker iterates over all units of its own copy and runs each unit that it claims first.
  std::atomic<std::int64_t> unclaimed = 0;
  share_work(workers->threads(), [&](std::int64_t, int thread) {
    const std::span<float> own =
        thread == 0 ? workspace : workers->scratch(thread, std::ssize(workspace));
    Units units = all;
    std::int64_t mine = unclaimed.fetch_add(1);
    for (std::int64_t i = 0; units.next(); ++i) {
      if (i != mine) continue;
      units.run(own);
      mine = unclaimed.fetch_add(1);
    }
  });
}

}  // namespace stowage::kernels
