// What the line of a step says beside what the planner found, from its reading to its line.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "instances/json/value.h"
#include "instances/result.h"
#include "solvers/plan_stream.h"

namespace stowage {

struct StepRemarks {
  std::vector<JsonMember> extras;  // of the step as it was read: echoed
  std::vector<InputError> errors;  // why it is not planned; the first is told
  bool with_instance = false;      // the instance stands in the line
  bool with_trainer = false;       // so does the trainer's step, of a plan
};

// The remarks on the steps under way: one thread reads steps, another writes their lines.
class StreamRemarks {
 public:
  void put(std::int64_t index, StepRemarks remarks);
  StepRemarks take(std::int64_t index);  // requires that they were put

 private:
  std::mutex mutex_;
  std::map<std::int64_t, StepRemarks> remarks_;
};

// A step that is not planned because of these errors, at least one, in the line `place` ("" if they
// say where).
StreamStep unreadable_step(std::int64_t index, const std::string& place,
                           const std::vector<InputError>& errors);

}  // namespace stowage
