#include "instances/strategy/fit/run_logs.h"

#include "instances/json/errors.h"
#include "instances/strategy/fit/log_text.h"

namespace stowage {

RunLogKind kind_of_run_log(std::string_view text) {
  if (is_wandb_export(text.substr(0, text.find('\n')))) return RunLogKind::wandb;
  if (text.find(kMegatronTime) != std::string_view::npos) return RunLogKind::megatron;
  if (text.find("tps: ") != std::string_view::npos) return RunLogKind::torchtitan;
  return RunLogKind::none;
}

Result<std::vector<StatedRun>> read_run_log(std::string_view text, const std::string& file) {
  switch (kind_of_run_log(text)) {
    case RunLogKind::megatron:
      return read_megatron_log(text, file);
    case RunLogKind::torchtitan:
      return read_torchtitan_log(text, file);
    case RunLogKind::wandb:
      return read_wandb_export(text, file);
    case RunLogKind::none:
      break;
  }
  return InputError{code::kLoggedRun, file,
                    "must be a log of Megatron-LM or torchtitan, or a CSV export of Weights & "
                    "Biases with their times, is none"};
}

}  // namespace stowage
