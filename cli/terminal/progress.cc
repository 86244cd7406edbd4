#include "cli/terminal/progress.h"

#include <string>
#include <utility>

#include "cli/terminal/table.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr int kRowsPerHeader = 20;
constexpr double kSecondsPerLine = 1.0;

std::string columns(bool timeless, std::size_t width, const std::string& source,
                    const std::string& time, const std::string& bound, const std::string& best,
                    const std::string& gap, const std::string& nodes, const std::string& by) {
  std::string line = padded(source, 1, Align::left);
  if (!timeless) line += padded(time, 10, Align::right);
  line += padded(bound, width, Align::right);
  line += padded(best, width, Align::right);
  line += padded(gap, 9, Align::right);
  line += padded(nodes, 8, Align::right);
  return line + "  " + by;
}

}  // namespace

std::string ProgressTable::line(const Improvement& step) const {
  std::optional<double> gap;
  if (step.objective) gap = relative_gap(*step.objective, step.bound);
  return columns(console_.settings.timeless, unit_.width, std::string(1, step.source),
                 seconds_text(step.seconds), amount_text(step.bound, unit_),
                 amount_text(step.objective, unit_), percent_text(gap), grouped(step.nodes),
                 step.by);
}

void ProgressTable::print(const Improvement& improvement) {
  if (rows_ % kRowsPerHeader == 0) {
    console_.table_line(columns(console_.settings.timeless, unit_.width, "", "time", "bound",
                                "best", "gap", "nodes", "by"));
  }
  ++rows_;
  console_.table_line(line(improvement));
  printed_ = improvement;
}

void ProgressTable::add(const Improvement& improvement) {
  if (!console_.shows_progress()) return;
  const Improvement* last = held_ ? &*held_ : printed_ ? &*printed_ : nullptr;
  const bool same_finder =
      last != nullptr && last->by == improvement.by && last->source == improvement.source;
  if (!same_finder) {
    finish();
    // With --timeless, consecutive improvements of one finder become one line, printed when the
    // sequence ends.
    if (console_.settings.timeless) {
      held_ = improvement;
    } else {
      print(improvement);
    }
    return;
  }
  if (!console_.settings.timeless && improvement.seconds >= printed_->seconds + kSecondsPerLine) {
    held_.reset();
    print(improvement);
    return;
  }
  held_ = improvement;
  if (console_.terminal() && !console_.settings.timeless) console_.rewrite_line(line(improvement));
}

void ProgressTable::finish() {
  if (!held_) return;
  const Improvement last = *std::exchange(held_, std::nullopt);
  print(last);
}

}  // namespace stowage
