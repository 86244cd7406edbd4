#include "instances/pictures/scatter/exchange_map.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/pictures/drawing/axis.h"
#include "instances/pictures/drawing/hues.h"
#include "instances/pictures/drawing/style.h"
#include "instances/scatter/cost/cost_model.h"

namespace stowage {
namespace {

constexpr std::size_t kMaxDegrees = 16;
constexpr double kRow = 22;     // px
constexpr double kGap = 3;      // px between rows
constexpr int kPerOctave = 24;  // lengths that are tried
constexpr Tokens kShortest = 64;

// Lengths [from, to] for which a group of the degree is fastest with this kind of exchange.
struct Stretch {
  ExchangeKind kind = ExchangeKind::none;
  Tokens from = 0;
  Tokens to = 0;
};

ExchangeKind fastest(const ScatterInstance& instance, std::span<const GroupForm> forms,
                     Tokens length) {
  const auto best = std::ranges::min_element(forms, {}, [&](GroupForm form) {
    if (length > longest_in_group(instance, form)) return kInfinity;
    return group_overhead_ms(instance, form) + sequence_ms(instance, length, form);
  });
  return best->exchange;
}

// Returns the most tokens of a sequence in a group of this degree, with any exchange.
Tokens longest_of(const ScatterInstance& instance, int degree) {
  Tokens longest = 0;
  for (const GroupForm form : group_forms(instance)) {
    if (form.degree == degree) longest = std::max(longest, longest_in_group(instance, form));
  }
  return longest;
}

std::vector<Stretch> stretches_of(const ScatterInstance& instance, int degree) {
  std::vector<GroupForm> forms;
  for (const GroupForm form : group_forms(instance)) {
    if (form.degree == degree) forms.push_back(form);
  }
  std::vector<Stretch> stretches;
  const Tokens most = longest_of(instance, degree);
  for (int step = 0;; ++step) {
    const auto length = static_cast<Tokens>(
        std::round(static_cast<double>(kShortest) * std::exp2(1.0 * step / kPerOctave)));
    if (length > most) break;
    const ExchangeKind kind = fastest(instance, forms, length);
    if (stretches.empty() || stretches.back().kind != kind) {
      stretches.push_back({kind, length, length});
    }
    stretches.back().to = length;
  }
  return stretches;
}

}  // namespace

Picture exchange_map(const ScatterInstance& instance) {
  std::vector<int> degrees;
  for (const int degree : instance.cluster.degrees) {
    if (degree > 1 && degrees.size() < kMaxDegrees) degrees.push_back(degree);
  }
  Panel panel("The fastest exchange of one sequence, by length and degree");
  const Tokens longest = degrees.empty() ? 0 : longest_of(instance, degrees.back());
  if (longest <= kShortest) {
    panel.say("No group of two devices or more holds more than " + grouped(kShortest) + " tokens.");
    return std::move(panel).finish();
  }
  std::vector<std::string> names;
  for (const std::string_view name : exchange_names().subspan(1)) names.emplace_back(name);
  const Hues hues(names);
  const auto rows = static_cast<double>(degrees.size());
  const Box plot = panel.plot(kRow * rows);
  const auto low = static_cast<double>(kShortest);
  const auto high = static_cast<double>(longest);
  const Scale x = Scale::logarithmic(low, high, plot.x, plot.right());
  const Scale y = Scale::linear(0, rows, plot.y, plot.bottom());
  Axis axis;
  for (std::size_t row = 0; row < degrees.size(); ++row) {
    axis.ticks.push_back({static_cast<double>(row) + 0.5, grouped(degrees[row])});
  }
  draw_left_axis(panel.svg, plot, y, axis, "degree");
  draw_bottom_axis(panel.svg, plot, x, logarithmic_axis(low, high, 2), "length in tokens");
  std::vector<bool> used(names.size(), false);
  for (std::size_t row = 0; row < degrees.size(); ++row) {
    const std::vector<Stretch> stretches = stretches_of(instance, degrees[row]);
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      const Stretch& own = stretches[i];
      const auto kind = static_cast<std::size_t>(own.kind) - 1;
      used[kind] = true;
      const double left = x(static_cast<double>(own.from));
      const Tokens to = i + 1 < stretches.size() ? stretches[i + 1].from : own.to;
      panel.svg.rect({left, y(static_cast<double>(row)) + kGap / 2,
                      x(static_cast<double>(to)) - left, kRow - kGap},
                     hue_class(hues.of(kind)),
                     "degree " + grouped(degrees[row]) + ", " + grouped(own.from) + " to " +
                         grouped(own.to) + " tokens: " + names[kind]);
    }
  }
  std::vector<LegendEntry> legend;
  for (std::size_t kind = 0; kind < names.size(); ++kind) {
    if (used[kind]) legend.push_back({.classes = hue_class(hues.of(kind)), .text = names[kind]});
  }
  panel.legend(legend);
  return std::move(panel).finish();
}

}  // namespace stowage
