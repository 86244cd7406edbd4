// Sequence lengths inside documents. Not installed: the readers of the families share it.
//
//   instance.lengths = read_lengths_or_list(*value, reader.at("lengths"), base_dir, errors);
//   check_padded_sum(instance.lengths, instance.pad_multiple, reader.at("lengths"), errors);
#pragma once

#include <filesystem>
#include <vector>

#include "instances/json_reader.h"
#include "instances/json_value.h"
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

}  // namespace stowage
