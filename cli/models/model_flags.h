// The flags that select the MILP of an instance, for `export` and `import`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/flags/flags.h"
#include "instances/families.h"
#include "instances/result.h"

namespace stowage {

struct ModelFlags {
  std::optional<std::int64_t> slots;
  bool published = false;
  std::string strategy;
  bool apart = false;
  bool exact = false;
  bool addresses = false;

  void declare(Flags& flags);

  // Returns E001 at a flag that has no meaning for instances of this family.
  std::optional<InputError> misplaced(const Instance& instance) const;
};

}  // namespace stowage
