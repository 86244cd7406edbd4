#include "cli/answers/launch/planned_launch.h"

namespace stowage {

bool takes_plans(const StrategyPlan& plan) {
  return plan.stages.front().zero < 2 && plan.dp * plan.cp > 1;
}

std::string lines_for_plans(Tokens tokens_of_rank) {
  return "# With STOWAGE_PLANS=1 each step is packed, and its groups are chosen, by a plan: on "
         "branch dev "
         "of\n# Megatron-LM, with the Python package stowage. Without it all groups have the size "
         "below.\n"
         "script=pretrain_gpt.py\n"
         "if [ \"${STOWAGE_PLANS:-0}\" = 1 ]; then\n"
         "  folder=$(cd \"$(dirname \"$0\")\" && pwd)\n"
         "  export STOWAGE_CLUSTER=\"${STOWAGE_CLUSTER:-$folder/step-000.json}\"\n"
         "  script=\"-m stowage.megatron pretrain_gpt.py\"\n"
         "  set -- --dynamic-context-parallel --sequence-packing-scheduler default_dynamic_cp \\\n"
         "    --max-seqlen-per-dp-cp-rank " +
         std::to_string(tokens_of_rank) +
         " --calculate-per-token-loss --dataloader-type single \"$@\"\n"
         "fi\n";
}

}  // namespace stowage
