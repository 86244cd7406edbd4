#include "instances/order/memory/transfer_times.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// The transfers that a step begins with, by their effect at the step.
struct StepTransfers {
  std::vector<std::size_t> outs;
  std::vector<std::size_t> freed;
  std::vector<std::size_t> ins;
};

}  // namespace

TransferTimes transfer_times(const OrderTable& table, std::span<const int> order,
                             std::span<const OrderTransfer> transfers) {
  TransferTimes times;
  times.outs.resize(transfers.size());
  times.ins.resize(transfers.size());
  std::vector<StepTransfers> of_step(transfers.empty() ? 0 : order.size());
  for (std::size_t k = 0; k < transfers.size(); ++k) {
    if (transfers[k].out) of_step[at(*transfers[k].out)].outs.push_back(k);
    of_step[at(transfers[k].freed)].freed.push_back(k);
    of_step[at(transfers[k].in)].ins.push_back(k);
  }
  std::vector<Ms> out_end(at(table.tensors()), 0);
  std::vector<Ms> in_end(at(table.tensors()), 0);
  Ms now = 0;
  Ms last_out = 0;
  Ms last_in = 0;
  for (std::size_t step = 0; step < order.size(); ++step) {
    const Ms before = now;
    if (!transfers.empty()) {
      const StepTransfers& its = of_step[step];
      const auto size = [&](std::size_t k) {
        return static_cast<double>(table.size(static_cast<int>(transfers[k].tensor)));
      };
      for (const std::size_t k : its.outs) {
        const Ms begin = std::max(last_out, now);
        last_out = begin + size(k) / table.host()->out_bytes_per_ms;
        times.outs[k] = {begin, last_out};
        out_end[at(transfers[k].tensor)] = last_out;
      }
      for (const std::size_t k : its.freed) now = std::max(now, out_end[at(transfers[k].tensor)]);
      for (const std::size_t k : its.ins) {
        const Ms begin = std::max(last_in, now);
        last_in = begin + size(k) / table.host()->in_bytes_per_ms;
        times.ins[k] = {begin, last_in};
        in_end[at(transfers[k].tensor)] = last_in;
      }
      for (const int t : table.touched(order[step])) now = std::max(now, in_end[at(t)]);
    }
    times.stall_ms += now - before;
    times.runs.push_back({now, now + table.ms(order[step])});
    now = times.runs.back().end;
  }
  times.time_ms = std::max(now, last_in);
  times.stall_ms += times.time_ms - now;
  return times;
}

HostUse host_use(const OrderTable& table, std::span<const int> order,
                 std::span<const OrderTransfer> transfers) {
  HostUse use;
  if (transfers.empty()) return use;
  // Finds the first touch behind each return, and the first step of the copy that is on the host
  // now.
  std::vector<Bytes> change(order.size() + 1, 0);
  std::vector<std::size_t> by_step(transfers.size());
  for (std::size_t k = 0; k < by_step.size(); ++k) by_step[k] = k;
  std::ranges::stable_sort(by_step, {}, [&](std::size_t k) { return transfers[k].freed; });
  std::vector<std::vector<std::size_t>> of_tensor(at(table.tensors()));
  for (const std::size_t k : by_step) of_tensor[at(transfers[k].tensor)].push_back(k);
  const auto touch_from = [&](int t, std::int64_t step) {
    for (std::size_t k = at(step); k < order.size(); ++k) {
      const auto touched = table.touched(order[k]);
      if (std::ranges::find(touched, t) != touched.end()) return k;
    }
    return order.size() - 1;
  };
  for (int t = 0; t < table.tensors(); ++t) {
    const std::vector<std::size_t>& its = of_tensor[at(t)];
    for (std::size_t k = 0; k < its.size();) {
      const std::size_t first = k;
      for (++k; k < its.size() && !transfers[its[k]].out; ++k) {
      }
      const OrderTransfer& begin = transfers[its[first]];
      change[at(begin.out.value_or(begin.freed))] += table.size(t);
      change[touch_from(t, transfers[its[k - 1]].in) + 1] -= table.size(t);
      use.out_bytes += table.size(t);
      use.in_bytes += table.size(t) * static_cast<Bytes>(k - first);
    }
  }
  Bytes now = 0;
  for (const Bytes bytes : change) use.peak_bytes = std::max(use.peak_bytes, now += bytes);
  return use;
}

}  // namespace stowage
