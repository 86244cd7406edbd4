// The flags that say where the lengths of a generated step come from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags/flags.h"
#include "cli/terminal/console.h"
#include "instances/lengths/source.h"
#include "instances/result.h"

namespace stowage {

// --lengths, --step, --sample, --mu, --sigma, --least, --most, --above-limit and --seed.
class LengthFlags {
 public:
  // `step` says what step n of a file is.
  void declare(Flags& flags, const std::string& step);

  LengthSource source() const;
  AboveLimit above_limit() const;
  std::uint64_t seed() const;

  // A flag that would change nothing is a misunderstanding, not a wish.
  std::optional<InputError> misplaced_flag() const;

  // The lines of the file, if the lengths come from one.
  Result<std::vector<Tokens>> list() const;

 private:
  bool from_file() const;

  std::string lengths_ = "lognormal";
  std::string above_ = "drop";
  bool sample_ = false;
  std::optional<std::int64_t> step_;
  std::optional<std::int64_t> least_;
  std::optional<std::int64_t> most_;
  std::optional<std::int64_t> seed_;
  std::optional<double> mu_;
  std::optional<double> sigma_;
};

}  // namespace stowage
