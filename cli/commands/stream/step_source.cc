#include "cli/commands/stream/step_source.h"

#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "cli/terminal/error/error_codes.h"

namespace stowage {

std::optional<StreamStep> StepSource::next() {
  for (;;) {
    while (!range_.beyond(steps_.index()) &&
           (steps_.index() < range_.from || !range_.shard.takes(steps_.index()))) {
      if (!steps_.skip()) break;  // next() below detects the end
    }
    const std::int64_t index = steps_.index();
    if (range_.beyond(index)) return std::nullopt;
    Result<std::optional<ScatterInstance>> step = steps_.next();
    if (!step && (range_.fail_fast || steps_.index() == index)) {
      fail(step.errors());
      return std::nullopt;
    }
    if (!step) return unreadable(index, step.errors());
    if (!*step) return std::nullopt;
    if (plans_ != nullptr) {
      const Result<StoredStep> stored = plans_->resume(index, **step);
      if (!stored) {
        errors_ = errors_in("", stored.errors());
        return std::nullopt;
      }
      if (is_there(index, *stored)) continue;
    }
    StreamStep found{.index = index};
    found.instance = **std::move(step);
    remark(index);
    return found;
  }
}

std::optional<StepWindow> StepSource::next_window() {
  for (;;) {
    std::optional<StepWindow> window = read_window();
    if (!window || plans_ == nullptr || leave_out_stored(*window)) return window;
    if (!errors_.empty()) return std::nullopt;
  }
}

void StepSource::warn(Console& console) const {
  if (!invalid_.empty()) console.warn(invalid_.say("is invalid") + ", and is planned anew");
  if (!claimed_.empty()) console.warn(claimed_.say("has a bound that is not proven"));
  if (!mended_.empty()) {
    console.warn(mended_.say("was missing or not of its plan") + ", and is written from it");
  }
}

std::optional<StepWindow> StepSource::read_window() {
  const std::int64_t from = range_.from / range_.window * range_.window;
  while (!range_.beyond(steps_.index()) &&
         (steps_.index() < from || !range_.shard.takes(steps_.index() / range_.window))) {
    if (!steps_.skip()) break;
  }
  if (range_.beyond(steps_.index()) || range_.steps == 0) return std::nullopt;
  StepWindow window{.first = steps_.index(), .steps = {}};
  for (std::int64_t k = 0; k < range_.window && errors_.empty(); ++k) {
    const std::int64_t index = steps_.index();
    Result<std::optional<ScatterInstance>> step = steps_.next();
    const bool ends = (range_.fail_fast && range_.has(index)) || steps_.index() == index;
    if (!step && ends) {
      fail(step.errors());
    } else if (!step) {
      window.steps.push_back(unreadable(index, step.errors()));
    } else if (!*step) {
      break;
    } else {
      window.steps.push_back({.index = index, .instance = **std::move(step), .outcome = {}});
      remark(index);
    }
  }
  // An interrupt may have cut the window short, which must not be taken for its end.
  if (window.steps.empty() || steps_.interrupted()) return std::nullopt;
  window.together = errors_.empty() && readable_steps(window).has_value();
  return window;
}

// Takes the deal of a stored window, and leaves out the steps whose plans are stored. Returns
// whether steps are left. A window without a file, of which a step has a plan, stays as drawn.
bool StepSource::leave_out_stored(StepWindow& window) {
  if (!window.together && plans_->has_window(window.first)) {
    if (errors_.empty()) {
      fail_with({kUnwritable, plans_->file_of(window.first, ".window.json"),
                 "must not be there while a step of its window cannot be read: mend the stream, or "
                 "name another directory"});
    }
    return false;
  }
  if (window.together && !take_deal(window)) return false;
  for (const StreamStep& step : window.steps) {
    if (plans_->has(step.index)) window.together = false;
  }
  std::vector<StreamStep> left;
  for (StreamStep& step : window.steps) {
    const std::int64_t index = step.index;
    bool stays = step.outcome || window.together;
    if (!stays && range_.has(index)) {
      const Result<StoredStep> stored =
          plans_->resume(index, std::get<ScatterInstance>(step.instance));
      if (!stored) {
        fail_with(stored.errors().front());
        return false;
      }
      stays = !is_there(index, *stored);
    }
    if (stays) {
      left.push_back(std::move(step));
    } else {
      remarks_.take(index);
    }
  }
  window.steps = std::move(left);
  return !window.steps.empty();
}

// Deals the steps as they are stored. Returns false after an error.
bool StepSource::take_deal(StepWindow& window) {
  const std::vector<ScatterInstance> drawn = *readable_steps(window);
  Result<std::optional<WindowDeal>> deal = plans_->stored_deal(window.first, drawn, range_.rule);
  if (!deal) {
    fail_with(deal.errors().front());
    return false;
  }
  if (!*deal) return true;
  window.deal = *std::move(deal);
  window.together = false;
  for (std::size_t s = 0; s < drawn.size(); ++s) {
    window.steps[s].instance = dealt_step(drawn, *window.deal, s);
  }
  return true;
}

// Records the state of a stored step. Returns whether its plan stays.
bool StepSource::is_there(std::int64_t index, const StoredStep& stored) {
  if (!stored.mended.empty()) mended_.add(stored.mended);
  if (stored.plan == StoredPlan::invalid) invalid_.add(plans_->file_of(index, ".json"));
  if (stored.plan != StoredPlan::there) return false;
  ++there_;
  if (stored.claimed) claimed_.add(plans_->file_of(index, ".json"));
  return true;
}

StreamStep StepSource::unreadable(std::int64_t index, const std::vector<InputError>& errors) {
  remarks_.put(index, {.extras = steps_.take_extras(), .errors = errors});
  return unreadable_step(index, range_.lines ? steps_.place() : "", errors);
}

// Ends the stream with the errors of a step.
void StepSource::fail(const std::vector<InputError>& errors) {
  errors_ = errors_in(range_.lines ? steps_.place() : "", errors);
}

// Ends the stream with an error of a stored file, unless it has ended.
void StepSource::fail_with(const InputError& error) {
  if (errors_.empty()) errors_ = errors_in("", {error});
}

void StepSource::remark(std::int64_t index) {
  remarks_.put(index, {.extras = steps_.take_extras(),
                       .with_instance = range_.with_instance,
                       .with_trainer = range_.with_trainer});
}

}  // namespace stowage
