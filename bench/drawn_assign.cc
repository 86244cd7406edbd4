#include "bench/drawn_assign.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <string_view>

#include "instances/assign/presets.h"
#include "instances/numeric/random.h"

namespace stowage::bench {
namespace {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return draw(random_, bound); }
  double real(double least, double most) { return least + (most - least) * draw_unit(random_); }
  // Draws from [least, most] with a uniform logarithm, so that every power of ten is equally
  // likely.
  double scale(double least, double most) {
    return std::exp(real(std::log(least), std::log(most)));
  }
  // Draws a normal number by the method of Box and Muller (1958).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - draw_unit(random_)));
    return radius * std::cos(6.283185307179586 * draw_unit(random_));
  }

 private:
  std::mt19937_64 random_;
};

struct Law {
  enum class Kind { uniform, lognormal, tail, long_rows };
  Kind kind = Kind::uniform;
  double size = 0;
  double shape = 0;
};

constexpr std::string_view kLawNames[] = {"uniform", "lognormal", "tail", "long"};

Law drawn_law(Draws& draws) {
  const auto kind = static_cast<Law::Kind>(draws.below(4));
  switch (kind) {
    case Law::Kind::uniform:
      return {kind, draws.scale(1000, 32000), 0};
    case Law::Kind::lognormal:
      return {kind, draws.real(5.5, 9), draws.real(0.6, 1.8)};
    case Law::Kind::tail:
      return {kind, draws.scale(200, 3000), draws.real(0.8, 2)};
    case Law::Kind::long_rows:
      break;
  }
  return {kind, draws.scale(4000, 16000), 0};
}

double drawn_length(const Law& law, Draws& draws) {
  switch (law.kind) {
    case Law::Kind::uniform:
      return draws.real(1, law.size);
    case Law::Kind::lognormal:
      return std::exp(law.size + law.shape * draws.normal());
    case Law::Kind::tail:
      return law.size * std::pow(1 - draws.real(0, 1), -1 / law.shape);
    case Law::Kind::long_rows:
      break;
  }
  return draws.real(law.size / 2, 2 * law.size);
}

}  // namespace

AssignInstance drawn_assign(std::uint64_t seed) {
  Draws draws(seed);
  const std::vector<std::string_view> models = assign_preset_models();
  const std::string_view model = models[draws.below(models.size())];
  AssignInstance instance = *assign_preset(model);
  Tokens longest = 0;
  for (const Scheme& scheme : instance.schemes) longest = std::max(longest, scheme.max_tokens);
  if (draws.below(3) > 0) {  // strategies that this file draws
    const int devices = 8 << draws.below(5);
    const auto strategies = simple_strategies(instance.schemes, devices, 32768);
    if (!strategies.empty()) {
      instance.devices = devices;
      instance.strategies = strategies;
    }
    longest = 0;
    for (const Strategy& strategy : instance.strategies) {
      longest = std::max(longest, longest_allowed(instance, strategy));
    }
  }
  const Law law = drawn_law(draws);
  const double tokens = draws.scale(20'000, 500'000);
  const double limit = static_cast<double>(std::min<Tokens>(longest, 32768));
  for (double sum = 0; sum < tokens;) {
    const double length = std::floor(std::clamp(drawn_length(law, draws), 1.0, limit));
    instance.lengths.push_back(static_cast<Tokens>(length));
    sum += length;
  }
  instance.name = "drawn-" + std::to_string(seed) + '-' + std::string(model) + '-' +
                  std::to_string(instance.devices) + "gpu-" +
                  std::string(kLawNames[static_cast<std::size_t>(law.kind)]) + '-' +
                  std::to_string(instance.lengths.size());
  return instance;
}

}  // namespace stowage::bench
