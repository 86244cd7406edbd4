// What `stowage configure --from DIR --lost 3,8-15` begins with.
//
// Its flags are declared and read as those of cli/flags/common_flags.h.
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
  StrategyPlan plan;               // verified
  std::vector<std::int64_t> lost;  // devices, ascending; not all
};

class FromFlags {
 public:
  void declare(Flags& flags);

  bool given() const { return !from_.empty(); }
  double weight() const;  // of ReplanOptions

  // E001 for what has no effect beside the others, and for what is missing.
  std::optional<InputError> misplaced(const std::string& instance_path) const;

  // From the files strategy.json and configuration.json of a directory that configure has written.
  // E001 at --lost for what is no device of it, a device that is named twice, and where none is
  // left.
  Loaded<OldConfiguration> load() const;

 private:
  std::string from_;
  std::vector<std::string> lost_;
  std::optional<double> weight_;
};

}  // namespace stowage
