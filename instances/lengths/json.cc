#include "instances/lengths/json.h"

#include <filesystem>
#include <string>

#include "instances/json/limits.h"
#include "instances/json/text.h"
#include "instances/lengths/list.h"

namespace stowage {
namespace {

constexpr IntegerRange kLength = {1, kMaxExact};

std::vector<Tokens> read_listed(const JsonValue& value, const JsonPath& path,
                                const std::string& base_dir, Tokens least, ErrorList& errors) {
  const ObjectReader reader(value, path, errors, {"file", "first", "count"});
  const std::int64_t before = errors.found();
  const std::filesystem::path file = reader.text("file");
  LengthSelection selection{.first = reader.integer("first", {0, kMaxSequences}, 0)};
  if (reader.find("count") != nullptr) {
    selection.count = reader.integer("count", {0, kMaxSequences});
  }
  selection.least = least;
  if (errors.found() != before) return {};
  if (file.empty() || file.is_absolute()) {
    errors.add(code::kListPath, reader.at("file").pointer(),
               "must be a path relative to the instance, is " + in_quotes(file.string()));
    return {};
  }
  Result<std::vector<Tokens>> lengths =
      read_length_file(std::filesystem::path(base_dir) / file, selection);
  if (lengths) return *std::move(lengths);
  errors.append(lengths.errors());
  return {};
}

std::vector<Tokens> read_array_or_list(const JsonValue& value, const JsonPath& path,
                                       const std::string& base_dir, Tokens least,
                                       ErrorList& errors) {
  if (value.object() != nullptr) return read_listed(value, path, base_dir, least, errors);
  if (value.array() != nullptr) return read_integers(value, path, {least, kMaxExact}, errors);
  add_wrong_type(value, path, "an array of integers or {\"file\": ...}", errors);
  return {};
}

}  // namespace

std::vector<Tokens> read_lengths(const JsonValue& value, const JsonPath& path, Tokens pad_multiple,
                                 ErrorList& errors) {
  const std::int64_t before = errors.found();
  std::vector<Tokens> lengths = read_integers(value, path, kLength, errors);
  if (errors.found() == before) check_padded_sum(lengths, pad_multiple, path, errors);
  return lengths;
}

std::vector<Tokens> read_lengths_or_list(const JsonValue& value, const JsonPath& path,
                                         const std::string& base_dir, ErrorList& errors) {
  return read_array_or_list(value, path, base_dir, 1, errors);
}

std::vector<Tokens> read_loss_tokens(const ObjectReader& reader, const std::string& base_dir,
                                     const std::vector<Tokens>& lengths) {
  const JsonValue* value = reader.find("loss_tokens");
  if (value == nullptr) return {};
  ErrorList& errors = reader.errors();
  const std::int64_t before = errors.found();
  const JsonPath path = reader.at("loss_tokens");
  std::vector<Tokens> all = read_array_or_list(*value, path, base_dir, 0, errors);
  if (errors.found() == before) check_loss_tokens(all, lengths, path, errors);
  return all;
}

void check_loss_tokens(const std::vector<Tokens>& loss_tokens, const std::vector<Tokens>& lengths,
                       const JsonPath& path, ErrorList& errors) {
  if (loss_tokens.size() != lengths.size()) {
    errors.add(code::kLossTokens, path.pointer(),
               "must have an entry for each of the " + std::to_string(lengths.size()) +
                   " lengths, has " + std::to_string(loss_tokens.size()));
    return;
  }
  for (std::size_t id = 0; id < lengths.size(); ++id) {
    if (loss_tokens[id] >= 0 && loss_tokens[id] <= lengths[id]) continue;
    errors.add(code::kLossTokens, path.index(static_cast<std::int64_t>(id)).pointer(),
               "must be from 0 to the length of the sequence, " + std::to_string(lengths[id]) +
                   ", is " + std::to_string(loss_tokens[id]));
  }
}

void check_padded_sum(const std::vector<Tokens>& lengths, Tokens pad_multiple, const JsonPath& path,
                      ErrorList& errors) {
  Tokens sum = 0;
  for (std::size_t id = 0; id < lengths.size(); ++id) {
    // Each term is below 2^54, the sum before at most 2^53.
    sum += round_up(lengths[id], pad_multiple);
    if (sum <= kMaxExact) continue;
    errors.add(code::kTooManyTokens, path.pointer(),
               "must sum, padded, to at most " + std::to_string(kMaxExact) +
                   " tokens, is beyond that at sequence " + std::to_string(id));
    return;
  }
}

void check_costs(std::size_t sequences, std::size_t shapes, std::string_view what,
                 const JsonPath& path, ErrorList& errors) {
  if (shapes == 0 || sequences <= static_cast<std::size_t>(kMaxCosts) / shapes) return;
  errors.add(code::kTooManyValues, path.pointer(),
             "must be at most " + std::to_string(kMaxCosts) + " sequences times " +
                 std::string(what) + ", is " + std::to_string(sequences) + " times " +
                 std::to_string(shapes));
}

}  // namespace stowage
