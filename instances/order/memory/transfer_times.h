// The times at which runs and transfers of a plan begin and end, and the use of the host.
//
//   const TransferTimes times = transfer_times(table, steps, plan.transfers);
//   times.stall_ms  // time that runs and the end wait for transfers
//
// The rules are those of docs/reference/order.md. Thread safety: its functions read their
// arguments and nothing else; any number of threads may call them at once.
#pragma once

#include <span>
#include <vector>

#include "instances/order/plan.h"
#include "instances/order/planning_table.h"
#include "instances/units.h"

namespace stowage {

struct TransferTimes {
  struct Span {
    Ms begin = 0;
    Ms end = 0;
  };

  std::vector<Span> runs;  // by step
  std::vector<Span> outs;  // by transfer; both 0 for a transfer without a way out
  std::vector<Span> ins;   // by transfer
  Ms time_ms = 0;          // the end of the last run and of the last transfer
  Ms stall_ms = 0;
};

// Requires a table with a host if there are transfers, and transfers that verify() accepts.
TransferTimes transfer_times(const OrderTable& table, std::span<const int> order,
                             std::span<const OrderTransfer> transfers);

// The bytes that move over both channels, and the most bytes that the host holds at any step.
struct HostUse {
  Bytes out_bytes = 0;
  Bytes in_bytes = 0;
  Bytes peak_bytes = 0;
};
HostUse host_use(const OrderTable& table, std::span<const int> order,
                 std::span<const OrderTransfer> transfers);

}  // namespace stowage
