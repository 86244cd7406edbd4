#include "kernels/run/scaled_instance.h"

#include "instances/scatter/table/group_form.h"

namespace stowage::kernels {

ScatterInstance scaled_instance(const ScatterInstance& instance, std::int64_t scale,
                                const ScatterCost& cost) {
  const auto shrunk = [scale](Tokens tokens) { return tokens / scale + (tokens % scale != 0); };
  ScatterInstance here = instance;
  here.name += "-by-" + std::to_string(scale);
  here.cost = cost;
  here.pad_multiple = 1;
  here.padding.reset();
  for (Tokens& length : here.lengths) length = shrunk(padded_length(instance, length));
  // The shrunk step has no recomputation. Its devices hold the tokens of the recomputation mode
  // with the largest capacity.
  const GroupForm most{1, stowage::ExchangeKind::none, largest_form(instance).recomputation};
  here.model = {.states_mib = 0, .activation_mib_per_token = 1};
  here.cluster.memory_mib = static_cast<Mib>(shrunk(tokens_per_device(instance, most)));
  // All devices compute at the same speed here, for any memory.
  for (std::size_t kind = 0; kind < here.cluster.kinds.size(); ++kind) {
    const GroupForm own{1, stowage::ExchangeKind::none, most.recomputation, static_cast<int>(kind)};
    here.cluster.kinds[kind].speed = 1;
    here.cluster.kinds[kind].memory_mib =
        static_cast<Mib>(shrunk(tokens_per_device(instance, own)));
  }
  if (Tokens& cap = here.rules.max_tokens_per_rank; cap < kMaxExact) cap = shrunk(cap);
  return here;
}

}  // namespace stowage::kernels
