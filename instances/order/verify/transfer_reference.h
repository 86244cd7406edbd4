// The transfers of an order to the host and back, recomputed from the instance alone: whether they
// are possible, the bytes on the host, and the begin of each run. The verifier of orders uses it;
// planners do not. Not installed.
//
//   TransferReference transfers(instance, truth, plan.order, plan.transfers);
//   if (transfers.check(found, {.transfers = kTransfers, .host = kHost})) {
//     transfers.time_ms();  // the time of all runs, waits included
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "instances/order/instance.h"
#include "instances/order/plan.h"
#include "instances/order/verify/reference_model.h"
#include "instances/proof/violation_list.h"
#include "instances/units.h"

namespace stowage {

// Indices into the rules of the list of violations.
struct TransferRules {
  std::size_t transfers;
  std::size_t host;
};

class TransferReference {
 public:
  // All arguments must outlive this object. Requires an order of operators that exist.
  TransferReference(const OrderInstance& instance, const OrderReferenceModel& truth,
                    std::span<const std::int64_t> order, std::span<const OrderTransfer> transfers)
      : instance_(instance), truth_(truth), order_(order), transfers_(transfers) {}

  // Returns whether every transfer is possible; adds a violation for each that is not. The
  // functions below require true.
  bool check(ViolationList& found, const TransferRules& rules);

  // Return the tensors whose memory is free after this step, and the tensors that have memory again
  // from this step on.
  const std::vector<std::int64_t>& freed_after(std::size_t step) const { return freed_[step]; }
  const std::vector<std::int64_t>& back_at(std::size_t step) const { return back_[step]; }

  // Return the end of the last run and of the last transfer, and the time that runs and the end
  // waited.
  Ms time_ms() const { return time_ms_; }
  Ms stall_ms() const { return stall_ms_; }

 private:
  struct Event;

  bool check_numbers(ViolationList& found, std::size_t rule) const;
  std::vector<Event> events_of(std::span<const std::size_t> its,
                               std::span<const std::size_t> steps) const;
  bool follow(std::int64_t tensor, std::span<const Event> events, ViolationList& found,
              std::size_t rule);
  void hold(std::int64_t tensor, std::size_t first, std::size_t last);
  void check_host(ViolationList& found, std::size_t rule) const;
  void list_steps();
  void run();

  const OrderInstance& instance_;
  const OrderReferenceModel& truth_;
  std::span<const std::int64_t> order_;
  std::span<const OrderTransfer> transfers_;
  std::vector<Bytes> held_;  // change of the bytes on the host at each step
  std::vector<std::vector<std::int64_t>> freed_;
  std::vector<std::vector<std::int64_t>> back_;
  Ms time_ms_ = 0;
  Ms stall_ms_ = 0;
};

}  // namespace stowage
