// Takes the place of the kernels in a command that executes no plans: that of the Python package.
#include "cli/commands/measure/machine.h"
#include "cli/commands/run/measured_comparison.h"
#include "cli/flags/command.h"
#include "cli/terminal/error/error_codes.h"
#include "instances/json/errors.h"
#include "kernels/memory/recorded_layout.h"
#include "kernels/memory/recorded_order.h"
#include "kernels/ranks/mpi_ranks.h"

namespace stowage {

std::unique_ptr<Command> make_run_command() { return nullptr; }
std::unique_ptr<Command> make_calibrate_command() { return nullptr; }

std::string_view missing_command(std::string_view name) {
  if (name == "run") {
    return "is not in this build, which has no kernels: take python -m stowage.torch.run, or the "
           "command "
           "that ./dev demo builds";
  }
  if (name == "calibrate") {
    return "is not in this build, which has no kernels: take python -m stowage.calibrate, or the "
           "command "
           "that ./dev demo builds";
  }
  return {};
}

Result<MeasuredStep> measured_step(Console&, const ScatterInstance&, const MeasureOptions&,
                                   Budget&) {
  return InputError{
      kUsage, "--measure",
      "needs kernels, which this build has not: take the command that ./dev demo builds"};
}

ExitCode refuse_calibration(Console& console, const InputError& error) {
  return console.refuse(error);
}

// These are called with a measured step alone.
PlansMeasured time_here(Console&, const MeasuredStep&, const std::vector<const ScatterPlan*>&,
                        Budget&) {
  return {};
}
void tell_measured(Console&, const PlansMeasured&) {}
void write_measured(JsonWriter&, const MeasuredStep&, const PlansMeasured&) {}

namespace kernels {
namespace {

InputError no_kernels() {
  return {
      code::kGenerator, "/from_kernels",
      "must be a build with kernels, is the command of the Python package: take the command that "
      "./dev demo builds"};
}

}  // namespace

bool mpi_built_in() { return false; }
Result<LayoutInstance> record_layout(const RecordedBlock&, Bytes) { return no_kernels(); }
Result<OrderInstance> record_order(const RecordedStep&, Bytes, double) { return no_kernels(); }

}  // namespace kernels
}  // namespace stowage
