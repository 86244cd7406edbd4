#include "cli/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "cli/error_codes.h"
#include "instances/json.h"
#include "instances/json_errors.h"

namespace stowage {
namespace {

// Closes what it holds; errors of close matter only after writing, where release() is used.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

std::string reason(int error) {
  return std::generic_category().message(error) + " (errno " + std::to_string(error) + ')';
}

InputError unreadable(const std::string& path, int error) {
  return {code::kUnreadable, path == "-" ? "stdin" : path, "cannot be read: " + reason(error)};
}

InputError unwritable(const std::string& path, const std::string& why) {
  return {kUnwritable, path, "cannot be written: " + why};
}

InputError too_large(const std::string& path) {
  return {code::kTooManyBytes, path == "-" ? "stdin" : path,
          "must be at most " + std::to_string(kMaxDocumentBytes) + " bytes, is larger"};
}

// The file a chain of symbolic links ends at, or `path` itself if there is no such file yet.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? std::string(real.get()) : path;
}

// Through the target itself: a rename would replace the pipe or the device by a file.
std::optional<InputError> write_directly(const std::string& path, const std::string& bytes) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) return unwritable(path, reason(errno));
  const int error = write_all(file.get(), bytes);
  if (error != 0) return unwritable(path, reason(error));
  return std::nullopt;
}

// Writes, flushes and closes; 0 or the errno of the first step that failed.
int fill(Descriptor& file, const std::string& bytes, const struct stat* old) {
  if (old != nullptr && ::fchmod(file.get(), old->st_mode & 07777) != 0) return errno;
  if (const int error = write_all(file.get(), bytes)) return error;
  if (::fsync(file.get()) != 0) return errno;
  return ::close(file.release()) == 0 ? 0 : errno;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const bool from_stdin = path == "-";
  Descriptor file(from_stdin ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return unreadable(path, errno);
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) return unreadable(path, errno);
  // Known beforehand for regular files: nothing is read in vain.
  if (S_ISREG(status.st_mode) && static_cast<std::uintmax_t>(status.st_size) > kMaxDocumentBytes)
    return too_large(path);
  std::string bytes;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unreadable(path, errno);
    if (count == 0) break;
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
    if (bytes.size() > kMaxDocumentBytes) return too_large(path);
  }
  return bytes;
}

std::optional<InputError> write_file(const std::string& path, const std::string& bytes) {
  const std::string target = resolved(path);
  struct stat old = {};
  const bool exists = ::stat(target.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) return unwritable(path, reason(EISDIR));
  if (exists && !S_ISREG(old.st_mode)) return write_directly(path, bytes);

  // Beside the target, because rename is atomic only inside one file system. O_EXCL and not
  // mkstemp: the mode of a new file is then what the user's umask says.
  const std::string temporary = target + '.' + std::to_string(::getpid()) + ".tmp";
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) return unwritable(path, reason(errno));
  int error = fill(file, bytes, exists ? &old : nullptr);
  if (error == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    return unwritable(path, reason(error));
  }
  // The rename itself reaches the disk with its directory. A file system that cannot flush a
  // directory has done what it can: the content is safe either way.
  const Descriptor directory(
      ::open(directory_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() >= 0) ::fsync(directory.get());
  return std::nullopt;
}

std::optional<InputError> check_writable(const std::string& path) {
  const std::string target = resolved(path);
  struct stat status = {};
  if (::stat(target.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return unwritable(path, reason(EISDIR));
    if (!S_ISREG(status.st_mode)) {
      if (::access(target.c_str(), W_OK) != 0) return unwritable(path, reason(errno));
      return std::nullopt;
    }
  }
  const std::string directory = directory_of(target);
  if (::stat(directory.c_str(), &status) != 0) {
    return unwritable(path, "its directory '" + directory + "': " + reason(errno));
  }
  if (!S_ISDIR(status.st_mode)) return unwritable(path, reason(ENOTDIR));
  if (::access(directory.c_str(), W_OK | X_OK) != 0) return unwritable(path, reason(errno));
  return std::nullopt;
}

std::optional<InputError> make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) return unwritable(path, reason(errno));
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return unwritable(path, reason(errno));
  if (!S_ISDIR(status.st_mode)) return unwritable(path, reason(ENOTDIR));
  if (::access(path.c_str(), W_OK | X_OK) != 0) return unwritable(path, reason(errno));
  return std::nullopt;
}

InputError unreadable(const std::string& path) { return unreadable(path, errno); }

int write_all(int fd, const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    done += static_cast<std::size_t>(count);
  }
  return 0;
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace stowage
