#include "cli/terminal/new_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"

namespace stowage {
namespace {

namespace fs = std::filesystem;

InputError unwritable(const std::string& path, int error) {
  return {kUnwritable, path,
          "cannot be written: " + std::generic_category().message(error) + " (errno " +
              std::to_string(error) + ')'};
}

// Removes trailing slashes, so that the temporary directory is created beside "runs/a/".
std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

std::optional<InputError> check_new_directory(const std::string& given) {
  const std::string path = without_slashes(given);
  struct stat status = {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (!S_ISDIR(status.st_mode)) {
      return InputError{kUnwritable, path,
                        std::string("must be a new or an empty directory, is a ") +
                            (S_ISLNK(status.st_mode) ? "symbolic link" : "file") +
                            ": name another directory or remove it"};
    }
    std::error_code error;
    const bool empty = fs::is_empty(path, error);
    if (error) return unwritable(path, error.value());
    if (!empty) {
      return InputError{kUnwritable, path,
                        "must be a new or an empty directory, has files: name another directory or "
                        "remove it"};
    }
  } else if (errno != ENOENT) {
    return unwritable(path, errno);
  }
  auto error = check_writable(path + ".new");  // the temporary directory is created beside `path`
  if (error) error->pointer = path;
  return error;
}

std::optional<InputError> write_new_directory(const std::string& given,
                                              const std::vector<NamedFile>& files) {
  const std::string path = without_slashes(given);
  if (auto error = check_new_directory(path)) return error;
  std::string temporary = path + ".XXXXXX";
  if (::mkdtemp(temporary.data()) == nullptr) return unwritable(path, errno);
  const auto give_up = [&](InputError error) {
    std::error_code ignored;  // only the first error is reported
    fs::remove_all(temporary, ignored);
    return error;
  };
  for (const NamedFile& file : files) {
    const std::string at = temporary + '/' + file.name;
    if (auto error = write_file(at, file.bytes)) {
      error->pointer = path + '/' + file.name;
      return give_up(*std::move(error));
    }
    if (!file.executable) continue;
    struct stat status = {};
    if (::stat(at.c_str(), &status) != 0 || ::chmod(at.c_str(), status.st_mode | 0111) != 0) {
      return give_up(unwritable(path + '/' + file.name, errno));
    }
  }
  // mkdtemp() creates a private directory, so its mode is set to the mode under the user's umask.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::chmod(temporary.c_str(), 0777 & ~mask) != 0) return give_up(unwritable(path, errno));
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int failure = errno;
    if (failure == ENOTEMPTY || failure == EEXIST || failure == ENOTDIR) {
      return give_up(
          {kUnwritable, path,
           "must be a new or an empty directory, was filled by another process while this "
           "command ran: name another directory"});
    }
    return give_up(unwritable(path, failure));
  }
  return std::nullopt;
}

}  // namespace stowage
