// The flags that say which MILP of an instance is meant: those of `export` and `import`.
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

  // Error E001 at a flag that says nothing about instances of this family.
  std::optional<InputError> misplaced(const Instance& instance) const;
};

}  // namespace stowage
