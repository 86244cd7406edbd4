// Flows for forced precedences and for both ends of a search, found again (least_live.h). The check
// of certificates takes no word of it for anything: it adds each flow up as one of a file
// (flow_check.h).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "instances/order/flow_check.h"
#include "instances/order/instance.h"

namespace stowage {

class FlowFinder {
 public:
  explicit FlowFinder(const OrderInstance& instance);
  ~FlowFinder();
  FlowFinder(const FlowFinder&) = delete;
  FlowFinder& operator=(const FlowFinder&) = delete;

  // From the next look() on. A flow that does not know a precedence is one all the same.
  void add(std::int64_t first, std::int64_t second);
  bool stale() const;
  void look();

  // Along tensors and along precedences.
  std::pair<Flow, Flow> flow(const std::vector<Before>& side);

 private:
  struct Known;
  std::unique_ptr<Known> known_;
};

}  // namespace stowage
