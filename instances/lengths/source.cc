#include "instances/lengths/source.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "instances/document/option_check.h"
#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/json/value.h"
#include "instances/numeric/random.h"

namespace stowage {
namespace {

using Kind = LengthSource::Kind;

// Draws a standard normal number, by Marsaglia's polar method; the second value of each pair is
// dropped. std::log may differ in its last bit between C libraries: rounding to whole tokens hides
// that.
double draw_normal(std::mt19937_64& random) {
  while (true) {
    const double x = 2 * draw_unit(random) - 1;
    const double y = 2 * draw_unit(random) - 1;
    const double square = x * x + y * y;
    if (square > 0 && square < 1) return x * std::sqrt(-2 * std::log(square) / square);
  }
}

void check_number(const char* where, double value, int most, ErrorList& errors) {
  if (value >= 0 && value <= most) return;
  errors.add(
      code::kGenerator, where,
      "must be a number from 0 to " + std::to_string(most) + ", is " + describe(JsonValue(value)));
}

}  // namespace

void check_source(const LengthSource& source, ErrorList& errors) {
  switch (source.kind) {
    case Kind::slice:
      check_option("/step", source.step, 0, kMaxSequences, errors);
      break;
    case Kind::sample:
      break;
    case Kind::lognormal:
      check_number("/mu", source.mu, 30, errors);
      check_number("/sigma", source.sigma, 10, errors);
      break;
    case Kind::uniform:
      if (check_option("/least", source.least, 1, kMaxExact, errors)) {
        check_option("/most", source.most, source.least, kMaxExact, errors);
      }
      break;
    case Kind::constant:
      check_option("/least", source.least, 1, kMaxExact, errors);
      break;
  }
}

std::string name_of(const LengthSource& source, std::uint64_t seed) {
  constexpr std::array<std::string_view, 5> kNames = {"", "", "lognormal", "uniform", "constant"};
  std::string name(kNames[static_cast<std::size_t>(source.kind)]);
  if (source.is_listed()) {
    const std::string file = source.list.substr(source.list.find_last_of('/') + 1);
    name = file.substr(0, file.find('.', 1));
  }
  if (source.kind == Kind::slice) return name + '-' + std::to_string(source.step);
  return name + "-seed" + std::to_string(seed);
}

std::optional<Tokens> LengthStream::next() {
  if (source_.is_listed()) {
    if (place_ >= list_.size()) return std::nullopt;
    if (source_.kind == Kind::sample) {
      std::swap(list_[place_], list_[place_ + draw(random_, list_.size() - place_)]);
    }
    return list_[place_++];
  }
  if (source_.kind == Kind::lognormal) {
    const double length = std::exp(source_.mu + source_.sigma * draw_normal(random_));
    constexpr auto kMost = static_cast<double>(kMaxExact);
    return static_cast<Tokens>(std::clamp(std::round(length), 1.0, kMost));
  }
  if (source_.kind == Kind::uniform) {
    const auto width = static_cast<std::uint64_t>(source_.most - source_.least) + 1;
    return source_.least + static_cast<Tokens>(draw(random_, width));
  }
  return source_.least;
}

}  // namespace stowage
