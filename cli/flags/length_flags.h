// The flags for the source of the lengths of a generated step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags/column_flag.h"
#include "cli/flags/flags.h"
#include "cli/terminal/console.h"
#include "instances/lengths/source.h"
#include "instances/result.h"

namespace stowage {

// --lengths, --column, --step, --sample, --mu, --sigma, --least, --most, --above-limit and --seed.
class LengthFlags {
 public:
  // `step` is the help text that defines step n of a file.
  void declare(Flags& flags, const std::string& step);

  LengthSource source() const;
  AboveLimit above_limit() const;
  std::uint64_t seed() const;

  // Returns an error for a flag that has no effect beside the others.
  std::optional<InputError> misplaced_flag() const;

  // Returns the lengths in the file if they come from a file; otherwise none.
  Loaded<std::vector<Tokens>> list(Console& console) const;

 private:
  bool from_file() const;

  std::string lengths_ = "lognormal";
  ColumnFlag column_;
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
