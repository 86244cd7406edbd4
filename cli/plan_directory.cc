#include "cli/plan_directory.h"

#include <sys/stat.h>

#include <cerrno>
#include <iomanip>
#include <sstream>

#include "cli/error_codes.h"
#include "cli/family.h"
#include "cli/files.h"
#include "instances/json.h"
#include "instances/trainer_step.h"
#include "instances/verify.h"

namespace stowage {

namespace {

std::string ending(TrainerFormat trainer) {
  return trainer == TrainerFormat::binary ? ".trainer.bin" : ".trainer.json";
}

// A file that is there and closed to us is not missing: reading it says what is wrong.
bool is_missing(const std::string& file) {
  struct stat status = {};
  return ::stat(file.c_str(), &status) != 0 && errno == ENOENT;
}

}  // namespace

std::string PlanDirectory::file_of(std::int64_t index, const std::string& ending) const {
  std::ostringstream name;
  name << path_ << '/' << std::setw(8) << std::setfill('0') << index << ending;
  return name.str();
}

Result<StoredPlan> PlanDirectory::find(std::int64_t index, const ScatterInstance& step) const {
  const std::string file = file_of(index, ".json");
  if (is_missing(file)) return StoredPlan::missing;
  const Result<std::string> text = read_file(file);
  if (!text) return text.errors();
  const Result<ScatterPlan> plan = read_scatter_plan(*text);
  if (plan && plan->instance_hash == instance_hash(step)) {
    if (!verify(step, *plan).empty()) return StoredPlan::invalid;
    const bool whole =
        trainer_ == TrainerFormat::none || !is_missing(file_of(index, ending(trainer_)));
    return whole ? StoredPlan::there : StoredPlan::missing;
  }
  return InputError{
      kUnwritable, file,
      "must be the plan of step " + std::to_string(index) +
          " of this stream, is not, and is kept: name another directory or remove it"};
}

std::optional<InputError> PlanDirectory::put(const PlannedStep& step) const {
  const Plan& plan = *step.outcome.plan;
  if (trainer_ != TrainerFormat::none) {
    const Result<TrainerStep> trainer =
        trainer_step(std::get<ScatterInstance>(step.instance), std::get<ScatterPlan>(plan));
    if (!trainer) return trainer.errors().front();
    const bool binary = trainer_ == TrainerFormat::binary;
    const std::string bytes =
        binary ? write_trainer_binary(*trainer) : write_trainer_json(*trainer);
    if (auto error = write_file(file_of(step.index, ending(trainer_)), bytes)) return error;
  }
  return write_file(file_of(step.index, ".json"), plan_json(plan));
}

}  // namespace stowage
