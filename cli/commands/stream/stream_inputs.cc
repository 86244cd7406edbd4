// What plan-stream reads: its steps, the cluster that they run on, and the share of this process.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <tuple>
#include <utility>

#include "cli/commands/stream/plan_stream_command.h"
#include "cli/commands/stream/shard.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/preset_flags.h"
#include "cli/terminal/error/error_codes.h"

namespace stowage {

// Returns a descriptor, or -1 and errno. open() succeeds for a directory, which cannot be read.
int PlanStreamCommand::open_steps() const {
  const int fd = path_ == "-" ? ::dup(STDIN_FILENO) : ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (fd < 0 || ::fstat(fd, &status) != 0 || !S_ISDIR(status.st_mode)) return fd;
  ::close(fd);
  errno = EISDIR;
  return -1;
}

Loaded<ScatterInstance> PlanStreamCommand::load_cluster(Console& console) const {
  if (!template_.empty()) {
    if (template_ == "-" && path_ == "-") {
      const InputError twice{kUsage, "--instance", "stdin is the stream already"};
      return {std::nullopt, {{.error = twice}}};
    }
    if (preset_.given()) {
      const InputError both{kUsage, "--instance",
                            "has cluster and model already: leave out --preset, --devices and "
                            "the other flags that describe them"};
      return {std::nullopt, {{.error = both}}};
    }
    Loaded<Instance> instance = load_instance(template_);
    if (!instance.value) return {std::nullopt, std::move(instance.errors)};
    if (auto error = not_of(*instance.value, "scatter")) {
      return {std::nullopt, errors_in(template_, {*error})};
    }
    return {std::get<ScatterInstance>(*std::move(instance.value)), {}};
  }
  Result<ScatterPreset> preset = preset_.preset(console);
  if (!preset) return {std::nullopt, errors_in("", preset.errors())};
  Result<ScatterInstance> cluster = scatter_preset(*preset);
  if (!cluster) return {std::nullopt, as_flag_errors(cluster.errors())};
  ScatterInstance step = *std::move(cluster);
  if (preset_.pad_multiple()) {
    step.padding.reset();
    step.pad_multiple = *preset_.pad_multiple();
  }
  return {std::move(step), {}};
}

Result<Shard> PlanStreamCommand::shard() const {
  if (shard_text_.empty()) return shard_of_environment();
  if (auto parsed = parse_shard(shard_text_)) return *std::move(parsed);
  return InputError{kUsage, "--shard", "must be I/N with I below N, is '" + shard_text_ + '\''};
}

}  // namespace stowage
