// Files of sequence lengths in the formats that traces and data sets have.
//
//   Result<LengthFile> read = read_any_lengths(bytes, "trace.csv", {.column = "ContextTokens"});
//
// The bytes decide the format:
//
// - one integer a line, where the first line may be a header and the last lines may be blank,
// - a table with a header, whose fields are separated by commas, semicolons or tabs (RFC 4180),
// such
//   as the traces of Azure and BurstGPT: `column` names the lengths,
// - JSON lines, such as Mooncake's traces: `column` is a key, or keys joined by dots,
// - a JSON array of integers, or {"lengths": [...]}, or with `column` an array of objects,
// - a one-dimensional array of integers of NumPy (.npy),
// - an index of a data set of Megatron-LM (.idx): the lengths of its documents.
//
// In tables and JSON lines 4808.0 is a length, since data frames write integers so if one is
// missing. All other formats (Parquet, compressed files, ...) are errors that name their remedy.
//
// Thread safety: any number of threads may read at once.
#pragma once

#include <string_view>

#include "instances/lengths/entries.h"
#include "instances/result.h"

namespace stowage {

// Returns the selected lengths. `file` names the file in errors. Errors of JSON documents have JSON
// pointers, all others begin with `file`:
//
// - E402 for an entry that is not an integer from 1 to 2^53, E403 for a selection beyond the end,
// - E404 for a column that is needed, unknown or without effect,
// - E405 for a file of another format, or a binary file that is damaged,
// - E412 for a row of another number of fields, and the codes of documents for JSON.
Result<LengthFile> read_any_lengths(std::string_view bytes, std::string_view file,
                                    const LengthChoice& choice = {});

// Returns whether the bytes are a file of lengths by their first bytes alone: .npy and .idx.
bool is_binary_length_file(std::string_view bytes);

// Returns whether the text begins with a complete JSON object on a line of its own that is followed
// by another line: JSON lines.
bool is_json_lines(std::string_view text);

}  // namespace stowage
