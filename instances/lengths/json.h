// Sequence lengths inside documents, for the readers of the families.
//
//   instance.lengths = read_lengths_or_list(*value, reader.at("lengths"), base_dir, errors);
//   check_padded_sum(instance.lengths, instance.pad_multiple, reader.at("lengths"), errors);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "instances/json/reader.h"
#include "instances/json/value.h"
#include "instances/units.h"

namespace stowage {

// Reads a JSON array of lengths; checks each of them, and their padded sum.
std::vector<Tokens> read_lengths(const JsonValue& value, const JsonPath& path, Tokens pad_multiple,
                                 ErrorList& errors);

// Reads a JSON array of lengths, or {"file": ..., "first": ..., "count": ...}, which is looked up
// in `base_dir`. Does not check the padded sum.
std::vector<Tokens> read_lengths_or_list(const JsonValue& value, const JsonPath& path,
                                         const std::string& base_dir, ErrorList& errors);

// Reads the optional member "loss_tokens": an array or a list as above, with an integer from 0 to
// its length for each sequence. Returns an empty list if it is missing. Requires lengths that were
// read without errors.
std::vector<Tokens> read_loss_tokens(const ObjectReader& reader, const std::string& base_dir,
                                     const std::vector<Tokens>& lengths);

// Adds an E306 at `path` unless there is one entry for each length, and an E306 for each entry that
// is not from 0 to its length.
void check_loss_tokens(const std::vector<Tokens>& loss_tokens, const std::vector<Tokens>& lengths,
                       const JsonPath& path, ErrorList& errors);

// Adds E304 at `path` if the padded lengths sum to more than kMaxExact tokens.
void check_padded_sum(const std::vector<Tokens>& lengths, Tokens pad_multiple, const JsonPath& path,
                      ErrorList& errors);

// Most entries of a table of the cost of each length in each shape (degree, scheme): 1.6 GB.
inline constexpr std::int64_t kMaxCosts = 200'000'000;

// Adds E108 at `path` if `sequences` times `shapes` exceeds kMaxCosts. `what` is the name of the
// shapes in the message.
void check_costs(std::size_t sequences, std::size_t shapes, std::string_view what,
                 const JsonPath& path, ErrorList& errors);

}  // namespace stowage
