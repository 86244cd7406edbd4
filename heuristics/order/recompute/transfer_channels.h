// Schedules the transfers of tensors to the host and back for a given sequence of steps.
//
// Outbound transfers: a transfer begins once the tensor has its value of the last use before the
// offload interval, and once the transfers of earlier last uses have begun. The memory is free from
// the first step on that begins after the transfer's end. Inbound transfers are scheduled from the
// last one back: each ends before the tensor's next use and before the next inbound transfer
// begins. If a step then needs more bytes than the capacity, tensors leave earlier or come back
// later. The transfer with the least waiting time of runs per byte moves first.
//
//   Channels channels(instance, table);
//   channels.look_at(steps);
//   const TransferChannels::Layout layout = channels.lay(aways, capacity, true);
//   if (layout.excess == 0) use(layout.transfers);
//
// Thread safety: an object belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/order/planning_table.h"

namespace stowage {

// An offload interval: the tensor is on the host after one of its uses and until before the next
// one.
struct OffloadInterval {
  int tensor = 0;
  // step of the use before the interval; -1: an input that is away from the start
  std::int64_t behind = -1;

  bool operator==(const OffloadInterval&) const = default;
};

class TransferChannels {
 public:
  struct Layout {
    std::vector<OrderTransfer> transfers;
    std::vector<Bytes> needs;  // bytes that each step needs
    double excess = 0;         // bytes above the capacity, summed over all steps
    Ms time_ms = 0;
    Ms stall_ms = 0;
    bool held = true;  // true if the host's capacity holds all copies at all times
  };

  // `instance` and `table` must outlive this object. Requires a host.
  TransferChannels(const OrderInstance& instance, const OrderTable& table);

  // Sets the steps to which all functions below refer.
  void look_at(std::span<const int> steps);

  // Returns the step before which the tensor must be back, or the number of steps if it must be
  // there at the end. Returns a negative number if the tensor need not come back or cannot be away.
  std::int64_t back_before(const OffloadInterval& away) const;
  // Returns the step of the last use before `step` if the tensor is there at `step` and can be
  // away. Returns -1 for an input that is unused so far, and kNone if the tensor cannot be away.
  static constexpr std::int64_t kNone = -2;
  std::int64_t last_use_before(int tensor, std::int64_t step) const;

  // Returns true if there is a step at which the tensor can be away.
  bool possible(const OffloadInterval& away) const;

  // Returns the transfers of the offload intervals, which must be possible() and begin at different
  // uses. If `stalls` is false, no tensor leaves earlier or comes back later for the capacity's
  // sake if a run would wait for the transfer.
  Layout lay(std::span<const OffloadInterval> offload_intervals, Bytes capacity, bool stalls) const;

 private:
  struct Use {
    std::int64_t step = 0;
    bool writes = false;
    // the use writes or updates the tensor, so that an earlier copy on the host is stale
    bool changes = false;
  };
  struct Move;

  std::int64_t steps() const { return static_cast<std::int64_t>(order_.size()); }
  Layout lay_by(std::span<const OffloadInterval> offload_intervals, Bytes capacity, bool stalls,
                std::span<const Ms> begins) const;
  void find_copies(std::vector<Move>& moves) const;
  void lay_out(std::vector<Move>& moves, std::span<const Ms> begins) const;
  void lay_in(std::vector<Move>& moves, std::span<const Ms> begins) const;
  void squeeze(std::vector<Move>& moves, std::vector<Bytes>& needs, Bytes capacity, bool stalls,
               std::span<const Ms> begins) const;
  bool held(std::span<const Move> moves) const;
  bool same_copy(const Move& before, const Move& next) const;

  const OrderTable& table_;
  // by operator and touched tensor: 1 if the operator updates the tensor in place
  std::vector<std::vector<char>> updates_;
  std::vector<int> order_;
  std::vector<std::vector<Use>> uses_;  // uses of each tensor, by step
  std::vector<Ms> begins_;  // begin of each step without transfers, then the end of the last step
};

}  // namespace stowage
