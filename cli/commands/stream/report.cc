#include "cli/commands/stream/report.h"

#include <algorithm>

#include "cli/families/families.h"
#include "cli/terminal/unit.h"
#include "instances/families.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/json/embedded_documents.h"
#include "instances/scatter/trainer.h"

namespace stowage {

namespace {

void write_error(JsonWriter& json, const std::vector<InputError>& errors) {
  json.key("error");
  json.begin_object();
  json.text("code", errors.front().code);
  json.text("pointer", errors.front().pointer);
  json.text("message", errors.front().message);
  json.end_object();
  json.integer("more_errors", static_cast<std::int64_t>(errors.size()) - 1);
}

}  // namespace

Result<std::string> step_line(const PlannedStep& step, const StepRemarks& remarks) {
  const Outcome& outcome = step.outcome;
  const auto& instance = std::get<ScatterInstance>(step.instance);
  const Unit unit = objective_unit(step.instance);
  JsonWriter json;
  json.begin_object(JsonWriter::Layout::line);
  json.text("format", "stowage/step");
  json.integer("version", 1);
  json.text("problem", family_name(step.instance));
  json.integer("step", step.index);
  for (const JsonMember& extra : remarks.extras) {
    json.key(extra.key);
    json.value(extra.value);
  }
  json.text("status", to_string(outcome.status));
  write_amount(json, "objective", outcome.objective, unit);
  write_amount(json, "bound", outcome.bound, unit);
  json.text("bound_by", outcome.bound_by);
  write_number(json, "gap", outcome.gap());
  json.text("found_by", outcome.found_by);
  json.text("detail", outcome.detail);
  if (!outcome.remedy.empty()) json.text("remedy", outcome.remedy);
  if (!remarks.errors.empty()) write_error(json, remarks.errors);
  json.key("unplaceable");
  json.integers(outcome.unplaceable);
  if (remarks.drawn && remarks.errors.empty()) {
    json.key("drawn");
    json.begin_array();
    for (const auto& [from, index] : *remarks.drawn) json.integers({from, index});
    json.end_array();
  }
  json.key("plan");
  outcome.plan ? write_plan(json, *outcome.plan) : json.null();
  if (remarks.with_instance && remarks.errors.empty()) {
    json.key("instance");
    json.begin_object();
    write_json_members(json, instance);
    json.end_object();
  }
  if (remarks.with_trainer && outcome.plan) {
    const auto trainer = trainer_step(instance, std::get<ScatterPlan>(*outcome.plan));
    if (!trainer) return trainer.errors();
    json.key("trainer");
    write_trainer(json, *trainer);
  }
  json.end_object();
  return json.take();
}

void StreamReport::add(const PlannedStep& step) {
  const Outcome& outcome = step.outcome;
  next_ = step.index + 1;
  ++steps_;
  sequences_ += static_cast<std::int64_t>(std::get<ScatterInstance>(step.instance).lengths.size());
  slowest_s_ = std::max(slowest_s_, outcome.seconds);
  gaps_ += outcome.gap().value_or(0);
  const std::string number = "step " + grouped(step.index) + ": ";
  if (outcome.status == Status::error && outcome.method.empty()) {
    ++unread_;
    console_.warn(number + outcome.detail);
  } else if (outcome.status == Status::infeasible) {
    ++infeasible_;
    for (const std::string& line : infeasibility_report(step.instance, outcome)) {
      console_.warn(number + line);
    }
  } else if (!outcome.plan) {
    ++failed_;
    console_.warn(number + std::string(to_string(outcome.status)) + ' ' + outcome.detail);
  }
  if (!console_.shows_progress() || console_.settings.timeless) return;
  const double now = std::chrono::duration<double>(Clock::now() - begin_).count();
  if (now < told_s_ + 1) return;
  told_s_ = now;
  console_.table_line("step " + grouped(step.index) + "  " + figures());
}

std::string StreamReport::figures() const {
  const std::int64_t planned = steps_ - infeasible_ - failed_ - unread_;
  std::string text = counted(steps_, "step") + "  " + counted(sequences_, "sequence");
  if (planned > 0) text += "  mean gap " + percent_text(gaps_ / static_cast<double>(planned));
  if (infeasible_ > 0) text += "  " + grouped(infeasible_) + " infeasible";
  if (unread_ > 0) text += "  " + grouped(unread_) + " not read";
  if (failed_ > 0) text += "  " + grouped(failed_) + " without a plan";
  if (console_.settings.timeless) return text;
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  return text + "  " + significant(static_cast<double>(steps_) / std::max(seconds, 1e-9)) +
         " steps/s  slowest " + ms_text(slowest_s_ * 1000) + " ms";
}

void StreamReport::finish(bool interrupted, std::int64_t clipped, std::int64_t there) {
  if (clipped > 0) {
    console_.warn(counted(clipped, "sequence") + (clipped == 1 ? " was" : "s were") +
                  " too long and " + (clipped == 1 ? "is" : "are") + " clipped");
  }
  console_.verdict(
      interrupted ? "interrupted" : "end",
      "  " + figures() + (there > 0 ? "  " + grouped(there) + " had their plan already" : ""));
}

ExitCode StreamReport::exit_code() const {
  if (unread_ > 0) return ExitCode::bad_input;
  if (failed_ > 0) return ExitCode::unknown;
  return infeasible_ > 0 ? ExitCode::refused : ExitCode::ok;
}

}  // namespace stowage
