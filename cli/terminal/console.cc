#include "cli/terminal/console.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "cli/terminal/error_answer.h"
#include "cli/terminal/files.h"
#include "instances/json/text.h"

namespace stowage {
namespace {

constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kRed = "\033[31m";
constexpr std::string_view kPlain = "\033[0m";
constexpr std::array kColours = {kBold, kRed, kPlain};

// A file opened later must not get the number of a standard stream that the caller has closed, or
// it would receive what is meant for the stream. The stand-in has the wrong direction on purpose:
// using it is an error, as it should be.
void fill_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) == -1) ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

struct Character {
  std::size_t bytes = 0;
  bool hidden = false;  // it steers a terminal, or is no UTF-8 and may be taken for what does
};

// The one that the text begins with. Requires a text that is not empty.
Character first_character(std::string_view text) {
  constexpr std::size_t kLongest = 4;  // bytes
  if (const auto control = control_character(text)) return {control->bytes, true};
  const std::size_t good = first_bad_byte(text.substr(0, kLongest)).value_or(kLongest);
  if (good == 0) return {1, true};
  std::size_t bytes = 1;
  while (bytes < std::min(good, text.size()) && is_continuation_byte(text[bytes])) ++bytes;
  return {bytes, false};
}

// What may be shown of lines that hold names from files: line ends and our own colours stay.
std::string shown(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const auto own = std::ranges::find_if(
        kColours, [&](std::string_view colour) { return lines.starts_with(colour); });
    const std::size_t kept = own != kColours.end() ? own->size() : lines.starts_with('\n') ? 1 : 0;
    const Character next = kept > 0 ? Character{kept, false} : first_character(lines);
    text += next.hidden ? "?" : lines.substr(0, next.bytes);
    lines.remove_prefix(next.bytes);
  }
  return text;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Character next = first_character(text);
    shown += next.hidden ? "?" : text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
  }
  return shown;
}

std::vector<CliError> errors_in(const std::string& file, const std::vector<InputError>& errors) {
  std::vector<CliError> all;
  for (const InputError& error : errors) all.push_back({file == "-" ? "stdin" : file, error});
  return all;
}

Console::Console() {
  fill_standard_streams();
  answer_fd_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  terminal_ = ::isatty(STDERR_FILENO) == 1;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  colours_ = terminal_ && (no_color == nullptr || *no_color == '\0') && term != nullptr &&
             std::string_view(term) != "dumb";
}

Console::~Console() {
  erase_line();
  if (answer_fd_ >= 0) ::close(answer_fd_);
}

void Console::say(std::string_view line) {
  erase_line();
  // Nobody is left to be told when stderr fails.
  write_all(STDERR_FILENO, shown(line) + '\n');
}

void Console::error(std::string_view line) { say(red("stowage:") + ' ' + printable(line)); }

void Console::warn(std::string_view line) {
  if (settings.level >= LogLevel::warn) say("stowage: warning: " + printable(line));
}

void Console::finding(std::string_view line) {
  if (settings.level >= LogLevel::warn) say(printable(line));
}

void Console::info(std::string_view line) {
  if (settings.level >= LogLevel::info) say(line);
}

void Console::debug(std::string_view line) {
  if (settings.level >= LogLevel::debug) say(line);
}

void Console::block(std::string_view lines) {
  erase_line();
  write_all(STDERR_FILENO, shown(lines));
}

void Console::table_line(std::string_view line) { say(line); }

void Console::rewrite_line(std::string_view line) {
  write_all(STDERR_FILENO, "\r" + shown(line) + "\033[K");
  line_open_ = true;
}

void Console::erase_line() {
  if (line_open_) write_all(STDERR_FILENO, "\r\033[K");
  line_open_ = false;
}

std::string Console::bold(const std::string& text) const {
  return colours_ ? std::string(kBold) + text + std::string(kPlain) : text;
}

std::string Console::red(const std::string& text) const {
  return colours_ ? std::string(kRed) + text + std::string(kPlain) : text;
}

bool Console::shows_progress() const {
  if (settings.progress == ProgressMode::automatic) return settings.level >= LogLevel::info;
  return settings.progress == ProgressMode::always;
}

bool Console::answer_part(const std::string& text) {
  erase_line();
  const int failure = write_all(answer_fd_, text);
  if (failure != 0) unanswered(failure);
  return failure == 0;
}

void Console::unanswered(int failure) {
  error("stdout: cannot be written: " + std::generic_category().message(failure) + " (errno " +
        std::to_string(failure) + ')');
}

ExitCode Console::answer(const std::string& text, ExitCode code) {
  erase_line();
  const int failure = write_all(answer_fd_, text);
  // close reports what write could not know yet (quota, a full network disk).
  const int closing = failure == 0 && ::close(answer_fd_) != 0 ? errno : 0;
  if (failure == 0) answer_fd_ = -1;
  const int errno_value = failure != 0 ? failure : closing;
  if (errno_value == 0) return code;
  unanswered(errno_value);
  return ExitCode::internal;
}

void Console::complain(const std::vector<CliError>& errors) {
  for (const CliError& e : errors) {
    error(e.file.empty() ? e.error.pointer + ": " + e.error.message
                         : e.file + ": " + to_string(e.error));
  }
}

ExitCode Console::refuse(const std::vector<CliError>& errors, ExitCode code) {
  complain(errors);
  return answer(error_json(errors, code), code);
}

ExitCode Console::refuse(const InputError& error, ExitCode code) {
  return refuse(std::vector<CliError>{{"", error}}, code);
}

}  // namespace stowage
