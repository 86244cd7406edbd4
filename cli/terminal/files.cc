#include "cli/terminal/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/terminal/error/error_codes.h"
#include "instances/json/errors.h"
#include "instances/json/limits.h"

namespace stowage {
namespace {

// Closes its descriptor. Errors of close() matter only after writing, where release() is used.
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

// The file that a path refers to after its symbolic links. The file need not exist.
struct Target {
  std::string path;
  int error = 0;  // an errno if no such file can exist
  bool exists = false;
  struct stat status = {};  // set if the file exists

  bool regular() const { return S_ISREG(status.st_mode); }
};

Target target_of(const std::string& path) {
  Target target{.path = path};
  if (::stat(path.c_str(), &target.status) == 0) {
    target.exists = true;
    if (S_ISDIR(target.status.st_mode)) target.error = EISDIR;
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                           &std::free);
    if (real) target.path = real.get();
    return target;
  }
  // stat() followed the links, so its errno reports loops, names that are too long and directories
  // without permission.
  target.error = path.empty() || errno != ENOENT ? errno : 0;
  // Linux's limit; more links occur only if they are created at this moment
  constexpr int kMaxLinks = 40;
  std::string link(PATH_MAX, '\0');
  for (int links = 0; target.error == 0 && links < kMaxLinks; ++links) {
    const ssize_t length = ::readlink(target.path.c_str(), link.data(), link.size());
    if (length <= 0) break;  // not a link: the file to be created
    const std::string next = link.substr(0, static_cast<std::size_t>(length));
    target.path = next.front() == '/' ? next : directory_of(target.path) + '/' + next;
  }
  return target;
}

// Returns `path` with `ending` appended. The last name is shortened to the limit of the file
// system.
std::string beside(const std::string& path, const std::string& ending) {
  const long limit = ::pathconf(directory_of(path).c_str(), _PC_NAME_MAX);
  const std::size_t most = limit > 0 ? static_cast<std::size_t>(limit) : NAME_MAX;
  const std::size_t begin = path.find_last_of('/') + 1;  // 0 if the path has no slash
  std::size_t length = path.size() - begin;
  if (length + ending.size() > most) {
    length = most > ending.size() ? most - ending.size() : 0;
    // The name is not cut inside of a UTF-8 character, since some file systems accept only UTF-8.
    while (length > 0 && (static_cast<unsigned char>(path[begin + length]) & 0xC0U) == 0x80U) {
      --length;
    }
  }
  return path.substr(0, begin + length) + ending;
}

// Creates a new file beside `path` and stores its path in `name`; returns -1 and sets errno on
// failure. O_EXCL is used instead of mkstemp() so that the mode of a new file follows the user's
// umask. A killed run may have left a file of the same name, and in a container the next run may
// have the same process number. So several names are tried.
int open_temporary(const std::string& path, std::string& name) {
  constexpr int kMaxNames = 10'000;
  const std::string process = '.' + std::to_string(::getpid());
  int file = -1;
  for (int k = 0; k < kMaxNames; ++k) {
    name = beside(path, process + (k == 0 ? "" : '.' + std::to_string(k)) + ".tmp");
    file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) break;
  }
  return file;
}

// Writes to the target itself, because a rename would replace a pipe or a device by a file. A pipe
// without a reader is an error, since waiting for a reader might never end.
std::optional<InputError> write_directly(const std::string& path, const std::string& bytes) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0) {
    return unwritable(path, (errno == ENXIO ? "nobody reads the pipe: " : "") + reason(errno));
  }
  // O_NONBLOCK was needed for open() only; write_all() also works if it stays set.
  ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) & ~O_NONBLOCK);
  const int error = write_all(file.get(), bytes);
  if (error != 0) return unwritable(path, reason(error));
  return std::nullopt;
}

// Waits for a descriptor that another process may have made non-blocking.
void wait_until_ready(int fd, short events) {
  pollfd one{.fd = fd, .events = events, .revents = 0};
  ::poll(&one, 1, -1);  // the result is ignored, since the next read or write reports errors
}

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

// Writes, flushes and closes. Returns 0 or the errno of the first step that failed.
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
  // The size of a regular file is known, so a file that is too large is refused before reading.
  if (S_ISREG(status.st_mode) && static_cast<std::uintmax_t>(status.st_size) > kMaxDocumentBytes)
    return too_large(path);
  std::string bytes;
  std::string buffer(std::size_t{1} << 16, '\0');  // heap memory, since the stack may be small
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && would_block(errno)) {
      wait_until_ready(file.get(), POLLIN);
      continue;
    }
    if (count < 0) return unreadable(path, errno);
    if (count == 0) break;
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
    if (bytes.size() > kMaxDocumentBytes) return too_large(path);
  }
  return bytes;
}

std::optional<InputError> write_file(const std::string& path, const std::string& bytes) {
  const Target target = target_of(path);
  if (target.error != 0) return unwritable(path, reason(target.error));
  if (target.exists && !target.regular()) return write_directly(path, bytes);

  // The temporary file is in the target's directory, because rename() is atomic only within one
  // file system.
  std::string temporary;
  Descriptor file(open_temporary(target.path, temporary));
  if (file.get() < 0) {
    return unwritable(path, "its temporary file '" + temporary + "': " + reason(errno));
  }
  int error = fill(file, bytes, target.exists ? &target.status : nullptr);
  if (error == 0 && ::rename(temporary.c_str(), target.path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    return unwritable(path, reason(error));
  }
  // Flushing the directory makes the rename durable. If a file system cannot flush directories, the
  // error is ignored: the content is complete with either name.
  const Descriptor directory(
      ::open(directory_of(target.path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() >= 0) ::fsync(directory.get());
  return std::nullopt;
}

std::optional<InputError> check_writable(const std::string& path) {
  const Target target = target_of(path);
  if (target.error != 0) return unwritable(path, reason(target.error));
  if (target.exists && !target.regular()) {
    if (::access(path.c_str(), W_OK) != 0) return unwritable(path, reason(errno));
    return std::nullopt;
  }
  const std::string directory = directory_of(target.path);
  struct stat status = {};
  if (::stat(directory.c_str(), &status) != 0) {
    return unwritable(path, "its directory '" + directory + "': " + reason(errno));
  }
  if (!S_ISDIR(status.st_mode)) return unwritable(path, reason(ENOTDIR));
  if (::access(directory.c_str(), W_OK | X_OK) != 0) return unwritable(path, reason(errno));
  return std::nullopt;
}

std::optional<InputError> check_output(const std::string& flag, const std::string& path,
                                       const std::vector<std::string>& inputs) {
  if (path.empty() || path == "-") return std::nullopt;
  struct stat output = {};
  // Pipes and devices may be input and output at once.
  if (::stat(path.c_str(), &output) == 0 && S_ISREG(output.st_mode)) {
    for (const std::string& input : inputs) {
      struct stat status = {};
      const bool there =
          input == "-" ? ::fstat(STDIN_FILENO, &status) == 0 : ::stat(input.c_str(), &status) == 0;
      if (!there || status.st_dev != output.st_dev || status.st_ino != output.st_ino) continue;
      return InputError{kUsage, flag,
                        "must be another file: '" + path + "' is the input '" +
                            (input == "-" ? "stdin" : input) + "', which would be lost"};
    }
  }
  return check_writable(path);
}

bool same_target(const std::string& one, const std::string& other) {
  const Target a = target_of(one);
  const Target b = target_of(other);
  if (a.exists && b.exists) {
    return a.status.st_dev == b.status.st_dev && a.status.st_ino == b.status.st_ino;
  }
  if (a.exists || b.exists) return false;
  // weakly_canonical() needs an absolute path.
  std::error_code none;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(a.path), none) ==
         std::filesystem::weakly_canonical(std::filesystem::absolute(b.path), none);
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
    if (count < 0 && would_block(errno)) {
      wait_until_ready(fd, POLLOUT);
      continue;
    }
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
