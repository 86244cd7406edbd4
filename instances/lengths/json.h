// Sequence lengths inside documents, for the readers of the families.
//
//   instance.lengths = read_lengths_or_list(*value, reader.at("lengths"), base_dir, errors);
//   check_padded_sum(instance.lengths, instance.pad_multiple, reader.at("lengths"), errors);
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "instances/json/reader.h"
#include "instances/json/value.h"
#include "instances/units.h"

namespace stowage {

// A JSON array of lengths; checks each, and their padded sum.
std::vector<Tokens> read_lengths(const JsonValue& value, const JsonPath& path, Tokens pad_multiple,
                                 ErrorList& errors);

// A JSON array of lengths, or {"file": ..., "first": ..., "count": ...}, which is looked up in
// `base_dir`. The padded sum is not checked.
std::vector<Tokens> read_lengths_or_list(const JsonValue& value, const JsonPath& path,
                                         const std::filesystem::path& base_dir, ErrorList& errors);

// Adds E304 at `path` if the padded lengths sum to more than kMaxExact tokens.
void check_padded_sum(const std::vector<Tokens>& lengths, Tokens pad_multiple, const JsonPath& path,
                      ErrorList& errors);

// A table of what each length costs in each shape (degree, scheme) must fit into memory: so many
// entries, 1.6 GB.
inline constexpr std::int64_t kMaxCosts = 200'000'000;

// Adds E108 at `path` if `sequences` times `shapes` exceeds kMaxCosts. `what` names the shapes.
void check_costs(std::size_t sequences, std::size_t shapes, std::string_view what,
                 const JsonPath& path, ErrorList& errors);

}  // namespace stowage
