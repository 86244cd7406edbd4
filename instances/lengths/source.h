// The sources of the lengths of generated instances: a list, or a distribution and a seed.
//
//   LengthStream lengths({.kind = LengthSource::Kind::lognormal, .mu = 6.5}, 7, {});
//   while (const auto length = lengths.next()) ...   // a distribution never ends
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "instances/units.h"

namespace stowage {

class ErrorList;

// All lengths are rounded to whole tokens, at least 1.
struct LengthSource {
  enum class Kind {
    slice,      // consecutive lines of a list: step after step of an epoch
    sample,     // lines of a list, drawn without replacement
    lognormal,  // exp(mu + sigma * normal)
    uniform,    // integers from `least` to `most`, both included
    constant,   // `least`, every time
  };
  Kind kind = Kind::slice;
  std::string list;       // slice, sample: the name of the list in the document
  std::int64_t step = 0;  // slice: the index of the step
  double mu = 0;          // lognormal: mean of the logarithm of the length in tokens, 0 to 30
  double sigma = 1;       // lognormal: its standard deviation, 0 to 10
  Tokens least = 1;       // uniform, constant
  Tokens most = 1;        // uniform

  bool operator==(const LengthSource&) const = default;

  bool is_listed() const { return kind == Kind::slice || kind == Kind::sample; }
};

// The treatment of lengths above a generator's limit.
enum class AboveLimit { drop, clip };

// Adds E504 for each number that the source reads and that is out of its range.
void check_source(const LengthSource& source, ErrorList& errors);

// Returns a name: "code-3" for step 3 of code.txt in any folder, "lognormal-seed7" for a
// distribution.
std::string name_of(const LengthSource& source, std::uint64_t seed);

// Yields the lengths one after another.
class LengthStream {
 public:
  // `list` holds all lines of the list that the source names; other sources ignore it. Requires
  // numbers that check_source() accepts.
  LengthStream(const LengthSource& source, std::uint64_t seed, std::vector<Tokens> list)
      : source_(source), random_(seed), list_(std::move(list)) {}

  // Skips lines of a list.
  void skip(std::size_t lines) { place_ += lines; }

  // Returns the next length, or nullopt at the end of a list.
  std::optional<Tokens> next();

 private:
  const LengthSource source_;
  std::mt19937_64 random_;
  std::vector<Tokens> list_;
  std::size_t place_ = 0;
};

}  // namespace stowage
