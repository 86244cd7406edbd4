// Lays transfers to the host and back into a run of steps: tensors leave as soon as they can, come
// back as late as no run waits for them, and move closer to each other only where the capacity asks
// for it.
//
// A transfer out begins when the tensor is what it is at its last use, and those of earlier last
// uses have begun; the memory is free from the first step on that need not wait for its end.
// Transfers in are laid out from the last one back, each to end before its use and before the next
// one begins. Where a step then needs more than the capacity, tensors leave earlier or come back
// later, those first that make runs wait least for their bytes.
//
//   Channels channels(instance, table);
//   channels.look_at(steps);
//   const Channels::Layout layout = channels.lay(aways, capacity, true);
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
#include "instances/order/table.h"

namespace stowage {

// A tensor that is on the host from behind one use of it to before the next one.
struct Away {
  int tensor = 0;
  std::int64_t behind = -1;  // the step of the use; -1: an input, from the start

  bool operator==(const Away&) const = default;
};

class Channels {
 public:
  struct Layout {
    std::vector<OrderTransfer> transfers;
    std::vector<Bytes> needs;  // by step
    double excess = 0;         // bytes above the capacity, over all steps
    Ms time_ms = 0;
    Ms stall_ms = 0;
    bool held = true;  // by the host, within its capacity
  };

  // Both must outlive this. Requires a host.
  Channels(const OrderInstance& instance, const OrderTable& table);

  // What follows speaks of these steps.
  void look_at(std::span<const int> steps);

  // The step before which a tensor must be back, or the number of steps if it must be at the end;
  // negative if it need not, or cannot be away.
  std::int64_t back_before(const Away& away) const;
  // The last use before the step, if the tensor is there at the step and could be away; negative
  // like -1 for an input from the start, kNone if it could not.
  static constexpr std::int64_t kNone = -2;
  std::int64_t last_use_before(int tensor, std::int64_t step) const;

  // Whether there is a step at which the tensor can be away.
  bool possible(const Away& away) const;

  // Requires aways that are possible, of different uses. Without `stalls` no tensor leaves earlier
  // or comes back later for the capacity if a run would wait for it.
  Layout lay(std::span<const Away> aways, Bytes capacity, bool stalls) const;

 private:
  struct Use {
    std::int64_t step = 0;
    bool writes = false;
    bool changes = false;  // what a copy on the host does not see
  };
  struct Move;

  std::int64_t steps() const { return static_cast<std::int64_t>(order_.size()); }
  Layout lay_by(std::span<const Away> aways, Bytes capacity, bool stalls,
                std::span<const Ms> begins) const;
  void find_copies(std::vector<Move>& moves) const;
  void lay_out(std::vector<Move>& moves, std::span<const Ms> begins) const;
  void lay_in(std::vector<Move>& moves, std::span<const Ms> begins) const;
  void squeeze(std::vector<Move>& moves, std::vector<Bytes>& needs, Bytes capacity, bool stalls,
               std::span<const Ms> begins) const;
  bool held(std::span<const Move> moves) const;
  bool same_copy(const Move& before, const Move& next) const;

  const OrderTable& table_;
  std::vector<std::vector<char>> updates_;  // by operator and touched tensor: whether in place
  std::vector<int> order_;
  std::vector<std::vector<Use>> uses_;  // of a tensor, by step
  std::vector<Ms> begins_;              // of steps without transfers, and the end
};

}  // namespace stowage
