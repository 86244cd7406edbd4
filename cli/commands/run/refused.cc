#include "cli/commands/run/refused.h"

#include "cli/answers/execution/json.h"

namespace stowage {

ExitCode refuse_run(Console& console, const Instance& instance, const std::string& what,
                    const std::vector<Violation>& violations) {
  for (const Violation& violation : violations) {
    console.finding("violation " + to_string(violation));
  }
  console.error("the " + what + " is invalid and was not executed");
  return console.answer(refused_execution_json(instance, violations, ExitCode::refused),
                        ExitCode::refused);
}

}  // namespace stowage
