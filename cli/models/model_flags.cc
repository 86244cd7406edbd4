#include "cli/models/model_flags.h"

#include <array>
#include <string_view>

#include "cli/terminal/error/error_codes.h"

namespace stowage {

void ModelFlags::declare(Flags& flags) {
  flags.integer("--slots", slots, "N", 1, 1'000'000,
                "Scatter: most micro-batches; default as many as the plan of method fast has");
  flags.toggle("--published", published,
               "Scatter, layout: the published rows alone (FlexSP: C1 to C5; MEMO: D1 to D3)");
  flags.text("--strategy", strategy, "NAME",
             "Assign: strategy of the model; default that of the plan of method fast");
  flags.toggle("--apart", apart, "Assign: every replica by itself, not grouped by scheme");
  flags.toggle("--exact", exact,
               "Assign: which sequences go into which row (A1 to A10), for small steps; default a "
               "relaxation that groups equal replicas");
  flags.toggle("--addresses", addresses,
               "Order: with the offsets of tensors (O6), so that the objective is where they end; "
               "for a handful of operators");
}

std::optional<InputError> ModelFlags::misplaced(const Instance& instance) const {
  struct Flag {
    const char* name;
    bool given;
    std::array<std::string_view, 2> families;
  };
  const std::array<Flag, 6> flags = {Flag{"--slots", slots.has_value(), {"scatter"}},
                                     Flag{"--published", published, {"scatter", "layout"}},
                                     Flag{"--strategy", !strategy.empty(), {"assign"}},
                                     Flag{"--apart", apart, {"assign"}},
                                     Flag{"--exact", exact, {"assign"}},
                                     Flag{"--addresses", addresses, {"order"}}};
  const std::string_view family = family_name(instance);
  const bool vowel = family == "assign" || family == "order";
  const bool steps = family == "assign" || family == "scatter";
  for (const Flag& flag : flags) {
    if (flag.given && flag.families[0] != family && flag.families[1] != family) {
      return InputError{kUsage, flag.name,
                        "has no effect on " + std::string(vowel ? "an " : "a ") +
                            std::string(family) + (steps ? " step" : "")};
    }
  }
  if (apart && exact) {
    return InputError{kUsage, "--apart", "has no effect beside --exact: its replicas are apart"};
  }
  return std::nullopt;
}

}  // namespace stowage
