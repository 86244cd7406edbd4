// Finds the flows of forced precedences and of both ends of a search again
// (instances/order/memory/least_live_cut.h). The check of certificates does not trust these flows:
// it adds each of them up like a flow of a file (flow_check.h).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "instances/order/instance.h"
#include "instances/order/verify/flow_check.h"

namespace stowage {

class FlowFinder {
 public:
  explicit FlowFinder(const OrderInstance& instance);
  ~FlowFinder();
  FlowFinder(const FlowFinder&) = delete;
  FlowFinder& operator=(const FlowFinder&) = delete;

  // Adds a precedence, which flow() uses after the next look(). A flow that was found without the
  // precedence is still valid.
  void add(std::int64_t first, std::int64_t second);
  bool stale() const;
  void look();

  // Returns the flow along tensors and the flow along precedences.
  std::pair<Flow, Flow> flow(const std::vector<Before>& side);

 private:
  struct Known;
  std::unique_ptr<Known> known_;
};

}  // namespace stowage
