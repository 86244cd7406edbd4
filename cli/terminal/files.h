// Reads files completely, up to a limit, and writes files atomically.
//
//   Result<std::string> text = read_file("instance.json");     // "-" is stdin
//   if (auto error = write_file("plan.json", bytes)) complain(*error);
//
// An error has the path as its pointer and the system's message with its errno.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instances/result.h"

namespace stowage {

// Returns all bytes of the file at `path`, or of stdin for "-". Pipes can be read too, so a shell's
// <(...) works. Errors: E110 if the file cannot be read (missing, a directory, no permission, ...),
// E107 if it is larger than kMaxDocumentBytes of instances/json/document.h.
Result<std::string> read_file(const std::string& path);

// Writes `bytes` to `path`. The function writes a temporary file beside the target, flushes it and
// renames it, so that a reader sees the old file or the new file and never a part. An existing file
// keeps its mode. A symbolic link is followed, even if its target does not exist yet. A target that
// is not a regular file (a pipe, a device) is written directly, and a pipe must have a reader.
// Error: E002 if the file cannot be written; the old file is then unchanged and the temporary file
// is removed.
std::optional<InputError> write_file(const std::string& path, const std::string& bytes);

// Returns nullopt if write_file() can currently succeed: the directory exists and is writable, and
// the target is not a directory and has a valid name. Returns the error of write_file() otherwise.
std::optional<InputError> check_writable(const std::string& path);

// Checks a command's output before the work. Returns E001 at `flag` if the file is one of the
// command's `inputs` ("-" is stdin), under any name, and otherwise the result of check_writable().
// Returns nullopt for stdout, which is "" or "-".
std::optional<InputError> check_output(const std::string& flag, const std::string& path,
                                       const std::vector<std::string>& inputs);

// Returns whether both paths refer to the same file, under any names and symbolic links. The file
// need not exist.
bool same_target(const std::string& one, const std::string& other);

// Makes sure that `path` is a writable directory, and creates it if it is missing. Error: E002.
std::optional<InputError> make_directory(const std::string& path);

// Returns the error of a file that cannot be opened: E110 and the system's message (errno).
InputError unreadable(const std::string& path);

// Writes all bytes to a descriptor. Returns 0 or the errno of a failed write. Interrupted writes
// are repeated, and a non-blocking descriptor is awaited.
int write_all(int fd, const std::string& bytes);

// Returns the directory part of `path`, for names relative to that file: "a/b.json" -> "a",
// "b.json" -> ".", "-" -> ".".
std::string directory_of(const std::string& path);

}  // namespace stowage
