// The data of a step that its line repeats or explains, in addition to the planner's result.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "instances/json/value.h"
#include "instances/result.h"
#include "instances/scatter/drawn.h"
#include "solvers/plan_stream.h"

namespace stowage {

struct StepRemarks {
  std::vector<JsonMember> extras;  // extra members of the step's input, which its line repeats
  std::vector<InputError> errors;  // errors that prevent planning; the line has the first one
  bool with_instance = false;      // if true, the line contains the instance
  bool with_trainer = false;       // if true, the line of a plan contains the trainer's step
  // With --window: by sequence of the step, the step and the index that it was drawn with.
  std::optional<std::vector<DrawnSequence>> drawn = {};
};

// The remarks on steps between reading and writing: one thread reads steps, another thread writes
// their lines.
class StreamRemarks {
 public:
  void put(std::int64_t index, StepRemarks remarks);
  StepRemarks take(std::int64_t index);  // requires a previous put() for `index`

 private:
  std::mutex mutex_;
  std::map<std::int64_t, StepRemarks> remarks_;
};

// Returns a step that is not planned because of these errors, at least one, in the line `place` (""
// if the errors name their place).
StreamStep unreadable_step(std::int64_t index, const std::string& place,
                           const std::vector<InputError>& errors);

}  // namespace stowage
