// Measured rows: the time that a group of devices takes for a packed row of sequences.
//
//   degree,lengths_tokens,time_ms,peak_mib,exchange
//   1,4096,812.5,31240,
//   4,32768 2048;512,1630.1,,ring
//
//   Result<std::vector<TimedRow>> read = read_samples_csv(text, "samples.csv");
//
// Columns stand in any order. The lengths of a row are separated by spaces or semicolons and are
// those before padding. peak_mib and exchange may be missing or empty. `lengths`, `ms` and `mib`
// are other names of lengths_tokens, time_ms and peak_mib. Columns that begin with x- are the
// user's. Fields are not quoted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/json/errors.h"
#include "instances/result.h"
#include "instances/scatter/instance.h"

namespace stowage {

inline constexpr std::int64_t kMaxSamples = 100'000;

struct TimedRow {
  int degree = 1;
  std::vector<Tokens> lengths;  // at least one, each at least 1
  Ms ms = 0;                    // above 0: forward and backward of all layers, the slowest rank
  std::optional<Mib> mib;       // above 0: peak memory of a device
  // `none`: the exchange of the instance, if groups of the degree have no choice.
  ExchangeKind exchange = ExchangeKind::none;
};

// Returns the name of a sample's member in errors: "/samples/3/exchange".
using SamplePlaces = std::function<std::string(std::size_t row, std::string_view member)>;
std::string sample_pointer(std::size_t row, std::string_view member);

// Returns the rows, or all errors of all lines, which point at FILE:LINE or FILE:LINE:COLUMN: E411
// for the header, E412 for a line with too few or too many fields, E413 for a field that cannot be
// read, E107 for more than kMaxSamples lines.
Result<std::vector<TimedRow>> read_samples_csv(std::string_view text, std::string_view file);

}  // namespace stowage
