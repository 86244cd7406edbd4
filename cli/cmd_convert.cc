// stowage convert: other people's files into instances. A plain list of lengths becomes a scatter
// instance.
#include <utility>

#include "cli/command.h"
#include "cli/common_flags.h"
#include "cli/error_codes.h"
#include "cli/family.h"
#include "cli/files.h"
#include "cli/numbers.h"
#include "cli/preset_flags.h"
#include "instances/json.h"
#include "instances/length_list.h"
#include "instances/presets.h"

namespace stowage {
namespace {

// "data/lengths.txt" -> "lengths"
std::string stem(const std::string& path) {
  if (path == "-") return "stdin";
  const std::string file = path.substr(path.find_last_of('/') + 1);
  const std::size_t dot = file.find_last_of('.');
  return dot == std::string::npos || dot == 0 ? file : file.substr(0, dot);
}

class ConvertCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "convert",
            .arguments = "IN OUT",
            .summary = "Turn a plain list of lengths, one a line, into a scatter instance",
            .examples = {"stowage convert lengths.txt step.json --devices 16",
                         "stowage convert lengths.txt - --preset gpt-13b --limit 384K",
                         "stowage convert lengths.txt step.json --pad-multiple 128 --name monday"}};
  }

  void declare(Flags& flags) override {
    flags.positional("IN", in_, "The list, - for stdin");
    flags.positional("OUT", out_, "The instance, - for stdout");
    preset_.declare(flags);
    flags.text("--name", name_, "NAME", "Of the instance; default the name of the list");
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    Result<ScatterPreset> preset = preset_.preset();
    if (!preset) return console.refuse(preset.errors().front());
    Result<ScatterInstance> converted = scatter_preset(*preset);
    if (!converted) return console.refuse(as_flag_errors(converted.errors()));
    Result<std::string> text = read_file(in_);
    if (!text) return console.refuse(text.errors().front());
    Result<std::vector<Tokens>> lengths = read_length_list(*text, in_ == "-" ? "stdin" : in_);
    if (!lengths) return console.refuse(errors_in("", lengths.errors()));

    ScatterInstance scatter = *std::move(converted);
    scatter.lengths = *std::move(lengths);
    scatter.name = name_.empty() ? stem(in_) : name_;
    if (preset_.pad_multiple()) scatter.pad_multiple = *preset_.pad_multiple();
    const std::string json = write_scatter_instance(scatter);
    // What our own reader would refuse must not leave this command: lengths that are fine one by
    // one may be too many tokens together.
    if (const auto again = read_scatter_instance(json); !again) {
      return console.refuse(errors_in(in_, again.errors()));
    }
    return write(console, scatter, json);
  }

 private:
  ExitCode write(Console& console, const ScatterInstance& scatter, const std::string& json) const {
    const auto unplaceable = static_cast<std::int64_t>(unplaceable_sequences(scatter).size());
    if (unplaceable > 0) {
      console.warn(grouped(unplaceable) + " sequences fit no group: solve will call it infeasible");
    }
    const Instance instance = scatter;
    const std::string line = "instance  scatter  " + printable(scatter.name) + "   " +
                             instance_size(instance) + "  -> " + out_;
    if (out_ == "-") {
      console.info(line);
      return console.answer(json, ExitCode::ok);
    }
    if (auto error = write_file(out_, json)) return console.refuse(*error);
    console.info(line);
    return ExitCode::ok;
  }

  std::string in_;
  std::string out_;
  std::string name_;
  PresetFlags preset_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_convert_command() { return std::make_unique<ConvertCommand>(); }

}  // namespace stowage
