// Reads the files of JSON documents. The readers and writers of a family are in its json.h, e.g.
// instances/scatter/json/json.h. docs/reference/documents.md has the rules for all documents,
// instances/errors.md all error codes.
//
//   Result<std::string> text = read_text_file("step.json");
//   Result<ScatterInstance> instance = read_scatter_instance(*text);
//
// Reading is strict: unknown or duplicate keys, fractions where integers belong, numbers beyond
// 2^53 and anything out of its stated range are errors. All errors of a document come in one list,
// each with a JSON pointer; only broken JSON syntax ends the reading early.
// Writing is stable: the same value gives the same bytes, and reading them gives the value back.
//
// Thread safety: any number of threads may read and write documents at once; a stream belongs to
// the call that reads it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <istream>
#include <string>
#include <string_view>

#include "instances/json/limits.h"
#include "instances/result.h"

namespace stowage {

// Returns the bytes of a file of at most kMaxDocumentBytes; otherwise E107 or E110 with the path as
// pointer. The size is checked before memory is allocated. Directories, devices and pipes are
// refused.
Result<std::string> read_text_file(const std::filesystem::path& path);

// Returns the rest of a stream, for instance of stdin; errors call it `name`. Reads no further than
// the limit.
Result<std::string> read_text_stream(std::istream& stream, std::string_view name,
                                     std::size_t most_bytes = kMaxDocumentBytes);

}  // namespace stowage
