#include "kernels/attention/attention_threads.h"

#include <atomic>
#include <ctime>
#include <thread>
#include <vector>

#include "kernels/attention/attention_units.h"
#include "kernels/attention/simd/isa.h"

namespace stowage::kernels {
namespace {

double thread_cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Every thread iterates over all units of its own copy and runs each unit that it claims first.
template <class Units>
void share(int threads, const Units& all, std::span<float> workspace,
           std::span<double> cpu_seconds) {
  simd_table();  // an exception must be thrown here, on the caller's thread
  std::atomic<std::int64_t> unclaimed = 0;
  const std::size_t floats = workspace.size() / static_cast<std::size_t>(threads);
  const auto work = [&](int me) {
    const double start = thread_cpu_seconds();
    Units units = all;
    std::int64_t mine = unclaimed.fetch_add(1);
    for (std::int64_t i = 0; units.next(); ++i) {
      if (i != mine) continue;
      units.run(workspace.subspan(static_cast<std::size_t>(me) * floats, floats));
      mine = unclaimed.fetch_add(1);
    }
    if (!cpu_seconds.empty()) cpu_seconds[me] = thread_cpu_seconds() - start;
  };
  std::vector<std::jthread> others;
  others.reserve(static_cast<std::size_t>(threads) - 1);
  for (int t = 1; t < threads; ++t) others.emplace_back(work, t);
  work(0);
}

}  // namespace

void attention_forward_on(int threads, const AttentionShape& shape, std::span<const float> q,
                          std::span<const float> k, std::span<const float> v, std::span<float> o,
                          std::span<float> lse, std::span<float> workspace,
                          std::span<double> cpu_seconds) {
  clear_forward_slack(shape, o, lse);
  const ForwardArrays arrays = {.q = q, .keys = keys_by_token(shape, k, v), .o = o, .lse = lse};
  share(threads, ForwardUnits(shape, arrays, kUnitQueries), workspace, cpu_seconds);
}

void attention_backward_on(int threads, const AttentionShape& shape,
                           const AttentionBackwardInput& input, KvGradients mode,
                           std::span<float> dq, std::span<float> dk, std::span<float> dv,
                           std::span<float> workspace, std::span<double> cpu_seconds) {
  clear_backward_slack(shape, mode, dq, dk, dv);
  OrderedReduction turns(HeadGroups::most(shape));
  share(threads, BackwardUnits(shape, input, mode, {.dq = dq, .dk = dk, .dv = dv}, &turns),
        workspace, cpu_seconds);
}

}  // namespace stowage::kernels
