#include "tests/cli/process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pty.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/cli/paths.h"

namespace stowage {
namespace {

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  require(pipe2(ends.data(), O_CLOEXEC) == 0, "pipe");
  return ends;
}

// Appends the data that can be read now. Returns false at the end of the stream. A terminal without
// its other side reports EIO.
bool read_some(int fd, std::string& text) {
  std::array<char, 1 << 14> buffer;
  while (true) {
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    return true;
  }
}

// Returns a file in memory with the input, which, unlike a pipe, never blocks the writer.
int input_file(const std::string& text) {
  const int fd = memfd_create("input", MFD_CLOEXEC);
  require(fd >= 0, "memfd_create");
  require(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "write");
  lseek(fd, 0, SEEK_SET);
  return fd;
}

// Debian's nobody and nogroup.
constexpr uid_t kNobody = 65534;

// Ends the calling process if it cannot give up root.
void become_unprivileged() {
  if (geteuid() != 0) return;
  if (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(97);
}

// Sets a limit of the calling process; 0 means no limit.
void limit(__rlimit_resource resource, std::size_t most) {
  const rlimit both{.rlim_cur = most, .rlim_max = most};
  if (most > 0) setrlimit(resource, &both);
}

// Returns the stowage binary, after the arguments in STOWAGE_UNDER.
std::vector<std::string> stowage_command() {
  std::vector<std::string> words;
  if (const char* under = std::getenv("STOWAGE_UNDER")) {
    std::istringstream all(under);
    for (std::string word; all >> word;) words.push_back(word);
  }
  words.push_back(kStowagePath);
  return words;
}

}  // namespace

Child::Child(const std::vector<std::string>& arguments, const RunOptions& options) {
  const int in = input_file(options.input);
  const std::array<int, 2> out = make_pipe();
  std::array<int, 2> err{};
  if (options.terminal) {
    require(openpty(&err[0], &err[1], nullptr, nullptr, nullptr) == 0, "openpty");
    fcntl(err[0], F_SETFD, FD_CLOEXEC);
    fcntl(err[1], F_SETFD, FD_CLOEXEC);
  } else {
    err = make_pipe();
  }
  const int file = options.out_path.empty()
                       ? -1
                       : open(options.out_path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  std::vector<std::string> words = options.command;
  if (words.empty()) words = stowage_command();
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  pid_ = fork();
  require(pid_ >= 0, "fork");
  if (pid_ == 0) {
    if (!options.directory.empty() && chdir(options.directory.c_str()) != 0) _exit(99);
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    for (const auto& [key, value] : options.environment) setenv(key.c_str(), value.c_str(), 1);
    dup2(in, STDIN_FILENO);
    dup2(file >= 0 ? file : out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    if (options.close_out) close(STDOUT_FILENO);
    limit(RLIMIT_AS, options.memory_limit);
    limit(RLIMIT_FSIZE, options.file_limit);
    if (options.unprivileged) become_unprivileged();
    limit(RLIMIT_NPROC, options.thread_limit);
    // A background job of a shell inherits ignored signals, which the command would keep ignoring.
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2}) {
      std::signal(signal, SIG_DFL);
    }
    // If the reader of the pipe has gone, the first write must report an error.
    if (options.broken_out) close(out[0]);
    execv(argv[0], argv.data());
    _exit(98);
  }
  close(in);
  close(out[1]);
  close(err[1]);
  if (file >= 0) close(file);
  out_ = out[0];
  err_ = err[0];
  if (options.broken_out) {
    close(out_);
    out_ = -1;
  }
}

Child::~Child() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (out_ >= 0) close(out_);
  if (err_ >= 0) close(err_);
}

bool Child::wait_for_err(const std::string& text) {
  while (run_.err.find(text) == std::string::npos) {
    if (!read_some(err_, run_.err)) return false;
  }
  return true;
}

void Child::send(int signal) const { kill(pid_, signal); }

void Child::reap(Finished& run) {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFEXITED(status)) run.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) run.signal = WTERMSIG(status);
}

Finished Child::finish() {
  std::array<pollfd, 2> streams = {pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
  std::array<std::string*, 2> texts = {&run_.out, &run_.err};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    if (poll(streams.data(), streams.size(), -1) < 0 && errno != EINTR) break;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (streams[i].revents != 0 && !read_some(streams[i].fd, *texts[i])) streams[i].fd = -1;
    }
  }
  reap(run_);
  return run_;
}

Finished Child::wait_without_reading() {
  reap(run_);
  return run_;
}

Finished run_stowage(const std::vector<std::string>& arguments, const RunOptions& options) {
  return Child(arguments, options).finish();
}

TempDir::TempDir() {
  const std::string pattern = "stowage-cli-" + std::string(6, 'X');
  std::string name = (std::filesystem::temp_directory_path() / pattern).string();
  require(mkdtemp(name.data()) != nullptr, "mkdtemp");
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void TempDir::open_to_all() const {
  std::filesystem::permissions(path_, std::filesystem::perms::all);
}

bool runs_unprivileged() {
  return run_stowage({"--version"}, {.unprivileged = true}).exit_code == 0;
}

void TempDir::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
}

std::string TempDir::read(const std::string& name) const { return read_text(path_ / name); }

std::vector<std::string> TempDir::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace stowage
