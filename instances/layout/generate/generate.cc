#include "instances/layout/generate/generate.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "instances/document/option_check.h"
#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/layout/validate.h"
#include "instances/numeric/random.h"

namespace stowage {
namespace {

using ArtificialKind = LayoutGenerator::Kind;

void check_options(const LayoutGenerator& generator, ErrorList& errors) {
  const auto integer = [&](const char* where, std::int64_t value, std::int64_t least,
                           std::int64_t most) {
    return check_option(where, value, least, most, errors);
  };
  const bool guillotine = generator.kind == ArtificialKind::guillotine;
  integer("/buffers", generator.buffers, guillotine ? 1 : 0, kMaxBuffers);
  const bool steps = integer("/steps", generator.steps, 1, std::int64_t{1} << 40);
  if (generator.lifetime && guillotine) {
    errors.add(code::kGenerator, "/lifetime", "has no meaning for pieces of a rectangle");
  } else if (generator.lifetime && steps) {
    integer("/lifetime", *generator.lifetime, 1, generator.steps);
  }
  const bool bytes = integer("/bytes", generator.bytes, 1, Bytes{1} << 32);
  const bool unit = integer("/unit", generator.unit, 1, Bytes{1} << 32);
  const bool alignment = integer("/alignment", generator.alignment, 1, Bytes{1} << 20);
  check_seed(generator.seed, errors);
  if (bytes && unit && generator.bytes % generator.unit != 0) {
    errors.add(code::kGenerator, "/unit",
               "must divide the bytes, " + std::to_string(generator.bytes) + ", is " +
                   std::to_string(generator.unit));
  }
  if (guillotine && unit && alignment && generator.unit % generator.alignment != 0) {
    errors.add(code::kGenerator, "/alignment",
               "must divide the unit, " + std::to_string(generator.unit) + ", is " +
                   std::to_string(generator.alignment));
  }
}

std::int64_t draw_below(std::mt19937_64& random, std::int64_t bound) {
  return static_cast<std::int64_t>(draw(random, static_cast<std::uint64_t>(bound)));
}

std::vector<Buffer> draw_buffers(const LayoutGenerator& generator, std::mt19937_64& random) {
  std::vector<Buffer> buffers;
  const std::int64_t usual = generator.kind == ArtificialKind::random
                                 ? generator.steps
                                 : std::max<std::int64_t>(1, generator.steps / 16);
  const std::int64_t longest = generator.lifetime.value_or(usual);
  const bool equal = generator.kind == ArtificialKind::rolling;
  for (std::int64_t i = 0; i < generator.buffers; ++i) {
    const std::int64_t length = equal ? longest : 1 + draw_below(random, longest);
    Buffer buffer{.lower = draw_below(random, generator.steps - length + 1)};
    buffer.upper = buffer.lower + length;
    buffer.size = generator.unit * (1 + draw_below(random, generator.bytes / generator.unit));
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

// Cuts a random piece at a random place until there are enough pieces, or all are one step by one
// unit.
std::vector<Buffer> cut_rectangle(const LayoutGenerator& generator, std::mt19937_64& random) {
  std::vector<Buffer> whole;
  std::vector<Buffer> pieces = {{.lower = 0, .upper = generator.steps, .size = generator.bytes}};
  while (!pieces.empty() &&
         static_cast<std::int64_t>(whole.size() + pieces.size()) < generator.buffers) {
    std::swap(pieces[draw(random, pieces.size())], pieces.back());
    Buffer& piece = pieces.back();
    const std::int64_t steps = piece.upper - piece.lower;
    const std::int64_t units = piece.size / generator.unit;
    if (steps == 1 && units == 1) {
      whole.push_back(std::move(piece));
      pieces.pop_back();
      continue;
    }
    Buffer other = piece;
    const bool in_time = units == 1 || (steps > 1 && draw(random, 2) == 0);
    if (in_time) {
      piece.upper = piece.lower + 1 + draw_below(random, steps - 1);
      other.lower = piece.upper;
    } else {
      piece.size = generator.unit * (1 + draw_below(random, units - 1));
      other.size -= piece.size;
    }
    pieces.push_back(std::move(other));
  }
  whole.insert(whole.end(), pieces.begin(), pieces.end());
  // Shuffles the buffers, so that their order does not show the cuts.
  for (std::size_t i = whole.size(); i > 1; --i) std::swap(whole[i - 1], whole[draw(random, i)]);
  return whole;
}

}  // namespace

Result<GeneratedLayout> generate_layout(const LayoutGenerator& generator) {
  ErrorList errors;
  check_options(generator, errors);
  if (!errors.empty()) return std::move(errors).take();
  std::mt19937_64 random(generator.seed);
  GeneratedLayout made;
  made.instance.alignment = generator.alignment;
  if (generator.kind == ArtificialKind::guillotine) {
    made.instance.buffers = cut_rectangle(generator, random);
    made.optimum = generator.bytes;
  } else {
    made.instance.buffers = draw_buffers(generator, random);
  }
  made.instance.name =
      std::string(LayoutGenerator::kNames[static_cast<std::size_t>(generator.kind)]) + '-' +
      std::to_string(generator.buffers) +
      (generator.lifetime ? "-lifetime" + std::to_string(*generator.lifetime) : "") + "-seed" +
      std::to_string(generator.seed);
  check_together(
      made.instance, [](std::int64_t, std::string_view) { return "/bytes"; }, errors);
  if (!errors.empty()) return std::move(errors).take();
  return made;
}

}  // namespace stowage
