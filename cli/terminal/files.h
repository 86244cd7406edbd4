// Files as the command sees them: read whole and within a limit, written whole or not at all.
//
//   Result<std::string> text = read_file("instance.json");     // "-" is stdin
//   if (auto error = write_file("plan.json", bytes)) complain(*error);
//
// Errors carry the path as their pointer and the system's reason with its errno.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instances/result.h"

namespace stowage {

// All bytes of the file at `path`, or of stdin for "-". Pipes are read as well, so that a shell's
// <(...) works. Errors: E110 cannot be read (missing, a directory, no permission, ...), E107 larger
// than kMaxDocumentBytes of instances/json/document.h.
Result<std::string> read_file(const std::string& path);

// Puts `bytes` at `path`: written to a temporary beside it, flushed to the disk and renamed, so
// that a reader sees the old file or the new one and never a part. An existing file keeps its mode;
// a symbolic link is followed, also to a file that is yet to be made; what is no regular file (a
// pipe, a device) is written directly, and a pipe must have its reader. Error: E002 cannot be
// written. The old file is then untouched and the temporary is gone.
std::optional<InputError> write_file(const std::string& path, const std::string& bytes);

// Whether write_file could succeed as things stand: the directory exists and is writable, the
// target is no directory and its name is none that cannot be. Error as write_file.
std::optional<InputError> check_writable(const std::string& path);

// What can be said of a command's output before the work: E001 at `flag` if it is one of the
// command's `inputs` ("-" is stdin), by whatever name; otherwise as check_writable. Nothing for
// stdout, which is "" or "-".
std::optional<InputError> check_output(const std::string& flag, const std::string& path,
                                       const std::vector<std::string>& inputs);

// Whether what is written to the two paths goes to one file, which need not be there yet: by
// whatever names and symbolic links.
bool same_target(const std::string& one, const std::string& other);

// Makes sure that `path` is a directory one can write to; made if it is missing. Error: E002.
std::optional<InputError> make_directory(const std::string& path);

// The error of a file that cannot be opened: E110 and the system's reason (errno).
InputError unreadable(const std::string& path);

// Writes all bytes to a descriptor; 0 or the errno that ended it. EINTR is retried, and a
// descriptor that does not block is waited for.
int write_all(int fd, const std::string& bytes);

// The directory part of `path` for files named inside it: "a/b.json" -> "a", "b.json" -> ".",
// "-" -> ".".
std::string directory_of(const std::string& path);

}  // namespace stowage
