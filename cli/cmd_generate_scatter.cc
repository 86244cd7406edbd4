// stowage generate scatter: seeded steps from published presets and a source of lengths.
#include <utility>

#include "cli/command.h"
#include "cli/common_flags.h"
#include "cli/error_codes.h"
#include "cli/family.h"
#include "cli/files.h"
#include "cli/numbers.h"
#include "cli/preset_flags.h"
#include "instances/generate.h"
#include "instances/json.h"
#include "instances/length_list.h"

namespace stowage {
namespace {

constexpr std::int64_t kDefaultCount = 512;

class GenerateScatterCommand : public Command {
 public:
  CommandText text() const override {
    return {
        .name = "generate scatter",
        .arguments = "[-o INSTANCE]",
        .summary = "Make a step from a preset and a list or distribution of lengths",
        .examples = {"stowage generate scatter --preset gpt-7b --devices 16 --seed 7 -o step.json",
                     "stowage generate scatter --lengths lengths.txt --count 8 --step 1",
                     "stowage generate scatter --lengths uniform --least 512 --most 4096"}};
  }

  void declare(Flags& flags) override {
    flags.text("-o,--output", output_, "INSTANCE", "Write the instance there instead of stdout");
    preset_.declare(flags);
    flags.text("--lengths", lengths_, "SOURCE",
               "A file with one length a line, or lognormal, uniform, constant; default lognormal");
    flags.integer("--count", count_, "N", 0, kMaxSequences, "Sequences drawn; default 512");
    flags.integer("--step", step_, "N", 0, kMaxSequences,
                  "File: which slice of --count lines; default 0");
    flags.toggle("--sample", sample_, "File: draw lines at random instead of a slice");
    flags.number("--mu", mu_, "X", 0, 30, "lognormal: mean of ln(tokens); default 7");
    flags.number("--sigma", sigma_, "X", 0, 10, "lognormal: deviation of ln(tokens); default 1.4");
    flags.integer("--least", least_, "N", 1, kMaxExact, "uniform, constant: tokens; default 1");
    flags.integer("--most", most_, "N", 1, kMaxExact, "uniform: tokens; default 8192");
    flags.choice("--above-limit", above_, {"drop", "clip"},
                 "What happens to sequences beyond the limit; default drop");
    flags.integer("--seed", seed_, "N", 0, kMaxExact, "Seed of every draw; default 0");
    flags.text("--name", name_, "NAME", "Of the instance; default says what it is made of");
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    Result<ScatterPreset> preset = preset_.preset();
    if (!preset) return console.refuse(preset.errors().front());
    ScatterGenerator generator{
        .preset = *std::move(preset),
        .source = source(),
        .count = count_.value_or(kDefaultCount),
        .seed = static_cast<std::uint64_t>(seed_.value_or(0)),
        .above_limit = above_ == "clip" ? AboveLimit::clip : AboveLimit::drop,
        .pad_multiple = preset_.pad_multiple(),
        .name = name_};
    if (auto error = misplaced_flag(generator.source.kind)) return console.refuse(*error);
    std::vector<Tokens> list;
    if (from_file()) {
      Result<std::string> text = read_file(lengths_);
      if (!text) return console.refuse(text.errors().front());
      Result<std::vector<Tokens>> lengths = read_length_list(*text, lengths_);
      if (!lengths) return console.refuse(errors_in("", lengths.errors()));
      list = *std::move(lengths);
    }
    const Result<GeneratedScatter> generated = generate_scatter(generator, list);
    if (!generated) return console.refuse(as_flag_errors(generated.errors()));
    return write(console, *generated);
  }

 private:
  bool from_file() const {
    return lengths_ != "lognormal" && lengths_ != "uniform" && lengths_ != "constant";
  }

  LengthSource source() const {
    LengthSource source;
    if (lengths_ == "lognormal") {
      source.kind = LengthSource::Kind::lognormal;
      source.mu = mu_.value_or(7);
      source.sigma = sigma_.value_or(1.4);
    } else if (lengths_ == "uniform") {
      source.kind = LengthSource::Kind::uniform;
      source.least = least_.value_or(1);
      source.most = most_.value_or(8192);
    } else if (lengths_ == "constant") {
      source.kind = LengthSource::Kind::constant;
      source.least = least_.value_or(1);
    } else {
      source.kind = sample_ ? LengthSource::Kind::sample : LengthSource::Kind::slice;
      source.list = lengths_ == "-" ? "stdin" : lengths_;
      source.step = step_.value_or(0);
    }
    return source;
  }

  // A flag that would change nothing is a misunderstanding, not a wish.
  std::optional<InputError> misplaced_flag(LengthSource::Kind kind) const {
    using Kind = LengthSource::Kind;
    const auto complaint = [this](const char* flag) {
      return InputError{kUsage, flag, "has no effect with --lengths " + lengths_};
    };
    if (kind != Kind::lognormal && mu_) return complaint("--mu");
    if (kind != Kind::lognormal && sigma_) return complaint("--sigma");
    if (kind != Kind::uniform && kind != Kind::constant && least_) return complaint("--least");
    if (kind != Kind::uniform && most_) return complaint("--most");
    if (kind != Kind::slice && step_) return complaint("--step");
    if (!from_file() && sample_) return complaint("--sample");
    return std::nullopt;
  }

  ExitCode write(Console& console, const GeneratedScatter& generated) const {
    const Instance instance = generated.instance;
    std::string line = "instance  scatter  " + printable(instance_name(instance)) + "   " +
                       instance_size(instance);
    if (generated.above > 0) {
      line += "; " + grouped(generated.above) + " above " + grouped(generated.longest_allowed) +
              " tokens " +
              (generated.generator.above_limit == AboveLimit::clip ? "clipped" : "dropped");
    }
    const std::string text = write_generated(generated);
    if (output_.empty() || output_ == "-") {
      console.info(line);
      return console.answer(text, ExitCode::ok);
    }
    if (auto error = write_file(output_, text)) return console.refuse(*error);
    console.info(line + "  -> " + output_);
    return ExitCode::ok;
  }

  std::string output_;
  std::string lengths_ = "lognormal";
  std::string above_ = "drop";
  std::string name_;
  bool sample_ = false;
  std::optional<std::int64_t> count_;
  std::optional<std::int64_t> step_;
  std::optional<std::int64_t> least_;
  std::optional<std::int64_t> most_;
  std::optional<std::int64_t> seed_;
  std::optional<double> mu_;
  std::optional<double> sigma_;
  PresetFlags preset_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_generate_scatter_command() {
  return std::make_unique<GenerateScatterCommand>();
}

}  // namespace stowage
