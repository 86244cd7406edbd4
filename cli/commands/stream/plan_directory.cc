#include "cli/commands/stream/plan_directory.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string_view>
#include <system_error>

#include "cli/answers/outcome_json.h"
#include "cli/families/families.h"
#include "cli/families/outcome/check_outcome.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/trainer.h"
#include "instances/scatter/verify/window_check.h"
#include "instances/trainer/step.h"

namespace stowage {

namespace {

std::string ending(TrainerFormat trainer) {
  return trainer == TrainerFormat::binary ? ".trainer.bin" : ".trainer.json";
}

// Returns whether the file does not exist. A file without read permission is not missing; reading
// it gives its error.
bool is_missing(const std::string& file) {
  struct stat status = {};
  return ::stat(file.c_str(), &status) != 0 && errno == ENOENT;
}

// Returns whether the file exists with exactly these bytes. read_file() is not used, because a
// trainer's file may exceed the limit on documents and need not be in memory as a whole.
Result<bool> holds(const std::string& file, std::string_view bytes) {
  struct stat status = {};
  if (::stat(file.c_str(), &status) != 0) {
    if (errno == ENOENT) return false;
    return unreadable(file);
  }
  // A pipe is not read, since reading it would wait.
  if (!S_ISREG(status.st_mode) || static_cast<std::uintmax_t>(status.st_size) != bytes.size()) {
    return false;
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) return unreadable(file);
  std::string buffer(std::size_t{1} << 16, '\0');
  while (!bytes.empty()) {
    in.read(buffer.data(), static_cast<std::streamsize>(std::min(buffer.size(), bytes.size())));
    const auto got = static_cast<std::size_t>(in.gcount());
    if (got == 0 || bytes.substr(0, got) != std::string_view(buffer).substr(0, got)) return false;
    bytes.remove_prefix(got);
  }
  return true;
}

// Returns whether the path is a pipe or a device, which could make its reader wait forever.
bool is_no_file(const std::string& file) {
  struct stat status = {};
  return ::stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

// Writes the file unless it holds the bytes. Sets `mended` to the name of the first file that was
// written.
std::optional<InputError> keep(const std::string& file, const std::string& bytes,
                               std::string& mended) {
  const Result<bool> same = holds(file, bytes);
  if (!same) return same.errors().front();
  if (*same) return std::nullopt;
  if (auto error = write_file(file, bytes)) return error;
  if (mended.empty()) mended = file;
  return std::nullopt;
}

constexpr char kOutcome[] = ".outcome.json";
constexpr char kWindow[] = ".window.json";

bool certified_name(const Instance& step, const std::string& bound_by) {
  return std::ranges::find(bound_names(step).certified, bound_by) !=
         bound_names(step).certified.end();
}

// The state of a stored plan's bound.
enum class BoundWord { proven, claimed, wrong };

// Returns the state of the bound. A bound that only a certificate proves counts as wrong without
// it, so that the step is planned again.
BoundWord word_of(const ScatterInstance& step, const ScatterPlan& plan,
                  const std::string& outcome_file) {
  InstanceAndPlan both{.instance = step, .plan = plan};
  const bool certified = certified_name(both.instance, plan.bound_by);
  struct stat status = {};
  if (certified && ::stat(outcome_file.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
    const Result<std::string> text = read_file(outcome_file);
    if (text) {
      if (const auto found = read_scatter_certificate(*text); found && *found) {
        both.certificate.emplace(**found);
      }
    }
  }
  const CheckedOutcome judgement = judge(both);
  if (!judgement.violations.empty()) return BoundWord::wrong;
  if (!judgement.shown.claimed) return BoundWord::proven;
  return certified ? BoundWord::wrong : BoundWord::claimed;
}

// Returns whether the places of sequences are a deal of the drawn steps that keeps the rule. Steps
// count from the first of the window.
bool is_deal(const std::vector<ScatterInstance>& drawn, const WindowDeal& deal,
             const WindowRule& rule) {
  std::vector<ScatterInstance> steps;
  for (std::size_t s = 0; s < drawn.size(); ++s) {
    if (deal[s].size() != drawn[s].lengths.size()) return false;
    for (const auto& [step, index] : deal[s]) {
      if (step < 0 || step >= std::ssize(drawn)) return false;
      const ScatterInstance& source = drawn[static_cast<std::size_t>(step)];
      if (index >= std::ssize(source.lengths)) return false;
      if (source.loss_tokens.empty() != drawn[s].loss_tokens.empty()) return false;
    }
    steps.push_back(dealt_step(drawn, deal, s));
  }
  return check_window(drawn, steps, deal, rule).empty();
}

// Returns an error at a place inside the file's future content.
InputError at(const std::string& file, InputError error) {
  error.pointer = error.pointer.empty() ? file : file + ": " + error.pointer;
  return error;
}

}  // namespace

void FilesAlike::add(const std::string& file) {
  if (count_++ == 0) first_ = file;
}

std::string FilesAlike::say(const std::string& what) const {
  return first_ + ": " + what + (count_ > 1 ? ", as " + grouped(count_ - 1) + " more" : "");
}

std::string PlanDirectory::file_of(std::int64_t index, const std::string& ending) const {
  std::ostringstream name;
  name << path_ << '/' << std::setw(8) << std::setfill('0') << index << ending;
  return name.str();
}

Result<StoredStep> PlanDirectory::resume(std::int64_t index, const ScatterInstance& step) const {
  const std::string file = file_of(index, ".json");
  if (is_missing(file)) return StoredStep{};
  if (is_no_file(file)) {
    return InputError{kUnwritable, file, "must be a file for a plan, is a pipe or a device"};
  }
  const Result<std::string> text = read_file(file);
  if (!text) return text.errors();
  const Result<ScatterPlan> plan = read_scatter_plan(*text);
  if (plan && plan->instance_hash == instance_hash(step)) {
    const BoundWord word = word_of(step, *plan, file_of(index, kOutcome));
    if (word == BoundWord::wrong) return StoredStep{.plan = StoredPlan::invalid};
    const Result<std::string> mended = keep_beside(index, step, *plan);
    if (!mended) return mended.errors();
    return StoredStep{
        .plan = StoredPlan::there, .claimed = word == BoundWord::claimed, .mended = *mended};
  }
  return InputError{
      kUnwritable, file,
      "must be the plan of step " + std::to_string(index) +
          " of this stream, is not, and is kept: name another directory or remove it"};
}

std::optional<InputError> PlanDirectory::put(const PlannedStep& step) const {
  const Plan& plan = *step.outcome.plan;
  const Result<std::string> written = keep_beside(
      step.index, std::get<ScatterInstance>(step.instance), std::get<ScatterPlan>(plan));
  if (!written) return written.errors().front();
  if (step.outcome.certificate && certified_name(step.instance, step.outcome.bound_by)) {
    const OutcomeFrame frame{.instance = &step.instance, .timeless = true};
    const std::string bytes = outcome_json(step.outcome, frame);
    if (auto error = write_file(file_of(step.index, kOutcome), bytes)) return error;
  }
  return write_file(file_of(step.index, ".json"), plan_json(plan));
}

bool PlanDirectory::has(std::int64_t index) const { return !is_missing(file_of(index, ".json")); }

bool PlanDirectory::has_window(std::int64_t first) const {
  return !is_missing(file_of(first, kWindow));
}

std::optional<InputError> PlanDirectory::refuse_windows() const {
  std::error_code ignored;  // a directory that cannot be read has its error when a plan is read
  for (const auto& entry : std::filesystem::directory_iterator(path_, ignored)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(kWindow)) {
      return InputError{kUnwritable, path_ + '/' + name,
                        "must not be there without --window, because steps of this directory were "
                        "planned together: give --window, or name another directory"};
    }
  }
  return std::nullopt;
}

Result<std::optional<WindowDeal>> PlanDirectory::stored_deal(
    std::int64_t first, const std::vector<ScatterInstance>& drawn, const WindowRule& rule) const {
  const std::string file = file_of(first, kWindow);
  if (is_missing(file)) return std::optional<WindowDeal>();
  const InputError other{kUnwritable, file,
                         "must tell where the sequences of the steps from " +
                             std::to_string(first) +
                             " on were drawn, within --delay and --token-spread, does not, and is "
                             "kept: name another directory or remove it and their plans"};
  if (is_no_file(file)) return other;
  const Result<std::string> text = read_file(file);
  if (!text) return text.errors();
  const Result<WindowFile> window = read_window(*text);
  if (!window || window->first_step != first || window->drawn.size() != drawn.size()) return other;
  WindowDeal deal = window->drawn;
  for (std::vector<DrawnSequence>& step : deal) {
    for (DrawnSequence& sequence : step) sequence.step -= first;
  }
  if (!is_deal(drawn, deal, rule)) return other;
  return std::optional(std::move(deal));
}

std::optional<InputError> PlanDirectory::put(const WindowFile& window) const {
  const std::string file = file_of(window.first_step, kWindow);
  const std::string bytes = write_window(window);
  const Result<bool> same = holds(file, bytes);
  if (!same) return same.errors().front();
  return *same ? std::nullopt : write_file(file, bytes);
}

// Writes the requested files beside the plan, and updates other existing ones, from the step and
// its plan. Returns the name of the first file that was written, or "".
Result<std::string> PlanDirectory::keep_beside(std::int64_t index, const ScatterInstance& step,
                                               const ScatterPlan& plan) const {
  std::string written;
  const std::string own = file_of(index, ".instance.json");
  if (beside_.instance || !is_missing(own)) {
    if (auto error = keep(own, write_scatter_instance(step), written)) return *error;
  }
  std::optional<TrainerStep> trainer;  // computed when first needed
  for (const TrainerFormat format : {TrainerFormat::json, TrainerFormat::binary}) {
    const std::string file = file_of(index, ending(format));
    if (format != beside_.trainer && is_missing(file)) continue;
    if (!trainer) {
      Result<TrainerStep> made = trainer_step(step, plan);
      if (!made) return at(file, made.errors().front());
      trainer = *std::move(made);
    }
    const std::string bytes = format == TrainerFormat::binary ? write_trainer_binary(*trainer)
                                                              : write_trainer_json(*trainer);
    if (auto error = keep(file, bytes, written)) return *error;
  }
  return written;
}

}  // namespace stowage
