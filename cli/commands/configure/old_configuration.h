// Loads the old configuration of `stowage configure --from DIR --lost 3,8-15`.
//
// The class of its flags is used like those of cli/flags/common_flags.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/families/load.h"
#include "cli/flags/flags.h"
#include "instances/result.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

struct OldConfiguration {
  StrategyInstance instance;
  StrategyPlan plan;               // verified plan
  std::vector<std::int64_t> lost;  // lost devices, ascending; at least one device remains
};

class FromFlags {
 public:
  void declare(Flags& flags);

  bool given() const { return !from_.empty(); }
  double weight() const;  // weight for ReplanOptions

  // Returns E001 for a flag that has no effect beside the others, and for a missing flag.
  std::optional<InputError> misplaced(const std::string& instance_path) const;

  // Reads the files strategy.json and configuration.json of a directory that configure wrote.
  // Returns E001 at --lost for an unknown device, a device that is named twice, and if no device
  // remains.
  Loaded<OldConfiguration> load() const;

 private:
  std::string from_;
  std::vector<std::string> lost_;
  std::optional<double> weight_;
};

}  // namespace stowage
