#include "instances/generate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

#include "instances/cost_model.h"
#include "instances/json.h"
#include "instances/json_errors.h"
#include "instances/json_value.h"
#include "instances/option_check.h"
#include "instances/random.h"

namespace stowage {
namespace {

using Kind = LengthSource::Kind;

// Standard normal, by Marsaglia's polar method; the second value of each pair is let go. std::log
// may differ in its last bit between C libraries: rounding to whole tokens hides that.
double draw_normal(std::mt19937_64& random) {
  while (true) {
    const double x = 2 * draw_unit(random) - 1;
    const double y = 2 * draw_unit(random) - 1;
    const double square = x * x + y * y;
    if (square > 0 && square < 1) return x * std::sqrt(-2 * std::log(square) / square);
  }
}

// `count` elements of `list` without replacement, in the order drawn.
std::vector<Tokens> draw_sample(std::mt19937_64& random, std::vector<Tokens> list,
                                std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(list[i], list[i + draw(random, list.size() - i)]);
  }
  list.resize(count);
  return list;
}

void check_options(const ScatterGenerator& generator, const std::vector<Tokens>& list,
                   ErrorList& errors) {
  const auto integer = [&](const char* where, std::int64_t value, std::int64_t least,
                           std::int64_t most) {
    return check_option(where, value, least, most, errors);
  };
  const auto number = [&](const char* where, double value, int most) {
    if (value >= 0 && value <= most) return;
    errors.add(code::kGenerator, where,
               "must be a number from 0 to " + std::to_string(most) + ", is " +
                   describe(JsonValue(value)));
  };
  const bool count_ok = integer("/count", generator.count, 0, kMaxSequences);
  check_seed(generator.seed, errors);
  if (generator.pad_multiple) {
    integer("/pad_multiple", *generator.pad_multiple, 1, kMaxPadMultiple);
  }
  const LengthSource& source = generator.source;
  const auto lines = static_cast<std::int64_t>(list.size());
  switch (source.kind) {
    case Kind::slice:
      if (count_ok && integer("/step", source.step, 0, kMaxSequences) &&
          generator.count * (source.step + 1) > lines) {
        errors.add(code::kGenerator, "/step",
                   "must select lines of the list, is step " + std::to_string(source.step) +
                       " of " + std::to_string(generator.count) + " lines in a list of " +
                       std::to_string(lines));
      }
      break;
    case Kind::sample:
      if (count_ok && generator.count > lines) {
        errors.add(code::kGenerator, "/count",
                   "must be at most the " + std::to_string(lines) + " lines of the list, is " +
                       std::to_string(generator.count));
      }
      break;
    case Kind::lognormal:
      number("/mu", source.mu, 30);
      number("/sigma", source.sigma, 10);
      break;
    case Kind::uniform:
      if (integer("/least", source.least, 1, kMaxExact)) {
        integer("/most", source.most, source.least, kMaxExact);
      }
      break;
    case Kind::constant:
      integer("/least", source.least, 1, kMaxExact);
      break;
  }
}

std::vector<Tokens> draw_lengths(const ScatterGenerator& generator,
                                 const std::vector<Tokens>& list) {
  const LengthSource& source = generator.source;
  std::mt19937_64 random(generator.seed);
  std::vector<Tokens> lengths;
  lengths.reserve(static_cast<std::size_t>(generator.count));
  if (source.kind == Kind::slice) {
    const auto first = list.begin() + generator.count * source.step;
    lengths.assign(first, first + generator.count);
    return lengths;
  }
  if (source.kind == Kind::sample) {
    return draw_sample(random, list, static_cast<std::size_t>(generator.count));
  }
  for (std::int64_t i = 0; i < generator.count; ++i) {
    if (source.kind == Kind::lognormal) {
      const double length = std::exp(source.mu + source.sigma * draw_normal(random));
      constexpr auto kMost = static_cast<double>(kMaxExact);
      lengths.push_back(static_cast<Tokens>(std::clamp(std::round(length), 1.0, kMost)));
    } else if (source.kind == Kind::uniform) {
      const auto width = static_cast<std::uint64_t>(source.most - source.least) + 1;
      lengths.push_back(source.least + static_cast<Tokens>(draw(random, width)));
    } else {
      lengths.push_back(source.least);
    }
  }
  return lengths;
}

std::string default_name(const ScatterGenerator& generator, const std::string& preset) {
  constexpr std::array<std::string_view, 5> kNames = {"", "", "lognormal", "uniform", "constant"};
  const LengthSource& source = generator.source;
  const bool listed = source.kind == Kind::slice || source.kind == Kind::sample;
  std::string name = preset + '-';
  name += listed ? source.list.substr(0, source.list.find('.'))
                 : std::string(kNames[static_cast<std::size_t>(source.kind)]);
  if (source.kind == Kind::slice) return name + '-' + std::to_string(source.step);
  return name + "-seed" + std::to_string(generator.seed);
}

}  // namespace

Result<GeneratedScatter> generate_scatter(const ScatterGenerator& generator,
                                          const std::vector<Tokens>& list) {
  ErrorList errors;
  Result<ScatterInstance> preset = scatter_preset(generator.preset);
  if (!preset) errors.append(preset.errors());
  check_options(generator, list, errors);
  if (!errors.empty()) return std::move(errors).take();

  GeneratedScatter generated{.instance = *std::move(preset), .generator = generator};
  ScatterInstance& instance = generated.instance;
  instance.pad_multiple = generator.pad_multiple.value_or(instance.pad_multiple);
  instance.name = generator.name.empty() ? default_name(generator, instance.name) : generator.name;
  const Tokens held = group_capacity(instance, instance.cluster.degrees.back());
  generated.longest_allowed =
      std::min(generator.preset.limit_tokens, held - held % instance.pad_multiple);
  if (generated.longest_allowed < 1) {
    return InputError{code::kNothingFits, "/memory_mib",
                      "must leave room for " + std::to_string(instance.pad_multiple) +
                          " tokens on the whole cluster, is room for " + std::to_string(held)};
  }
  for (const Tokens length : draw_lengths(generator, list)) {
    const bool too_long = length > generated.longest_allowed;
    if (too_long) ++generated.above;
    if (too_long && generator.above_limit == AboveLimit::drop) continue;
    instance.lengths.push_back(std::min(length, generated.longest_allowed));
  }
  return generated;
}

}  // namespace stowage
