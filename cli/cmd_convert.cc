// stowage convert: other people's files into instances, and layouts into MiniMalloc's tables.
#include <utility>

#include "cli/command.h"
#include "cli/common_flags.h"
#include "cli/error_codes.h"
#include "cli/family.h"
#include "cli/files.h"
#include "cli/preset_flags.h"
#include "instances/assign_presets.h"
#include "instances/json.h"
#include "instances/layout_csv.h"
#include "instances/layout_load.h"
#include "instances/length_list.h"
#include "instances/numbers.h"
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

bool is_csv(const std::string& path) { return path.ends_with(".csv"); }

class ConvertCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "convert",
            .arguments = "IN OUT",
            .summary = "A list of lengths into an instance, a CSV of buffers into a layout",
            .examples = {"stowage convert lengths.txt step.json --devices 16",
                         "stowage convert lengths.txt - --preset gpt-13b --limit 384K",
                         "stowage convert buffers.1048576.csv layout.json"}};
  }

  void declare(Flags& flags) override {
    flags.positional("IN", in_,
                     "Lengths, one a line; a table of buffers (.csv); or a layout instance, for a "
                     "table. - for stdin");
    flags.positional("OUT", out_, "The instance, or a table (.csv); - for stdout");
    preset_.declare(flags);
    std::vector<std::string> models;
    for (const std::string_view model : assign_preset_models()) models.emplace_back(model);
    flags.choice("--assign", assign_, models,
                 "Lengths to an assign instance of this model instead of a scatter instance");
    flags.integer("--capacity", capacity_, "BYTES", 1, kMaxExact,
                  "Of the layout; default the number in NAME.BYTES.csv, if there is one");
    flags.text("--plan", plan_, "PLAN", "To a table: the offsets, as pins");
    flags.text("--name", name_, "NAME", "Of the instance; default the name of the file");
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (auto error = misplaced_flag()) return console.refuse(*error);
    if (is_csv(out_)) return to_table(console);
    if (is_csv(in_)) return from_table(console);
    return assign_.empty() ? from_lengths(console) : to_assign(console);
  }

 private:
  std::optional<InputError> misplaced_flag() const {
    const auto complaint = [](const char* flag, const char* why) {
      return InputError{kUsage, flag, std::string("has an effect only ") + why};
    };
    if (preset_.given() && (is_csv(in_) || is_csv(out_))) {
      return complaint("--preset", "on lists of lengths");
    }
    if (!assign_.empty() && (is_csv(in_) || is_csv(out_))) {
      return complaint("--assign", "on lists of lengths");
    }
    if (!assign_.empty() && preset_.given()) {
      return complaint("--preset", "without --assign");
    }
    if (capacity_ && !is_csv(in_)) return complaint("--capacity", "where IN is a table");
    if (!plan_.empty() && !is_csv(out_)) return complaint("--plan", "where OUT is a table");
    if (!name_.empty() && is_csv(out_)) return complaint("--name", "where OUT is an instance");
    return std::nullopt;
  }

  ExitCode to_assign(Console& console) const {
    Result<AssignInstance> converted = assign_preset(assign_);
    if (!converted) return console.refuse(as_flag_errors(converted.errors()));
    Result<std::string> text = read_file(in_);
    if (!text) return console.refuse(text.errors().front());
    Result<std::vector<Tokens>> lengths = read_length_list(*text, in_ == "-" ? "stdin" : in_);
    if (!lengths) return console.refuse(errors_in("", lengths.errors()));
    AssignInstance assign = *std::move(converted);
    assign.lengths = *std::move(lengths);
    assign.name = name_.empty() ? stem(in_) : name_;
    const std::string json = write_assign_instance(assign);
    if (const auto again = read_assign_instance(json); !again) {
      return console.refuse(errors_in(in_, again.errors()));
    }
    const auto unplaceable = static_cast<std::int64_t>(unplaceable_sequences(assign).size());
    if (unplaceable > 0) {
      console.warn(grouped(unplaceable) +
                   " sequences fit no strategy: solve will call it infeasible");
    }
    return write(console, assign, json);
  }

  ExitCode from_lengths(Console& console) const {
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
    const auto unplaceable = static_cast<std::int64_t>(unplaceable_sequences(scatter).size());
    if (unplaceable > 0) {
      console.warn(grouped(unplaceable) + " sequences fit no group: solve will call it infeasible");
    }
    return write(console, scatter, json);
  }

  ExitCode from_table(Console& console) const {
    Result<std::string> text = read_file(in_);
    if (!text) return console.refuse(text.errors().front());
    Result<LayoutInstance> table = read_layout_csv(*text, in_);
    if (!table) return console.refuse(errors_in("", table.errors()));
    LayoutInstance layout = *std::move(table);
    layout.name = name_.empty() ? stem(in_) : name_;
    layout.capacity = capacity_ ? capacity_ : capacity_in_file_name(in_);
    if (const auto why = layout_infeasibility(layout)) {
      console.warn(why->text + ": solve will call it infeasible");
    }
    return write(console, layout, write_layout_instance(layout));
  }

  ExitCode to_table(Console& console) const {
    Loaded<Instance> instance = load_instance(in_);
    if (!instance.value) return console.refuse(instance.errors);
    if (auto error = not_of(*instance.value, "layout")) {
      return console.refuse(errors_in(in_, {*error}));
    }
    const auto& layout = std::get<LayoutInstance>(*instance.value);
    if (plan_.empty()) return write_table(console, layout, write_layout_csv(layout));
    const Loaded<Plan> plan = load_plan(plan_);
    if (!plan.value) return console.refuse(plan.errors);
    if (auto error = other_problem(*instance.value, *plan.value)) {
      return console.refuse(errors_in(plan_, {*error}));
    }
    // No plan leaves unverified.
    if (const auto violations = verify_plan(*instance.value, *plan.value); !violations.empty()) {
      for (const Violation& violation : violations) console.finding(to_string(violation));
      return console.refuse({kUsage, "--plan", "must be valid for the instance, is not"},
                            ExitCode::refused);
    }
    return write_table(console, layout,
                       write_layout_csv(layout, std::get<LayoutPlan>(*plan.value)));
  }

  ExitCode write_table(Console& console, const LayoutInstance& layout,
                       const Result<std::string>& table) const {
    if (!table) return console.refuse(errors_in(in_, table.errors()));
    if (layout.capacity) {
      console.warn("a table has no room for the capacity of " + grouped(*layout.capacity) +
                   " bytes");
    }
    return write(console, layout, *table);
  }

  ExitCode write(Console& console, const Instance& instance, const std::string& text) const {
    const std::string line = "instance  " + std::string(problem_name(instance)) + "  " +
                             printable(instance_name(instance)) + "   " + instance_size(instance) +
                             "  -> " + out_;
    if (out_ == "-") {
      console.info(line);
      return console.answer(text, ExitCode::ok);
    }
    if (auto error = write_file(out_, text)) return console.refuse(*error);
    console.info(line);
    return ExitCode::ok;
  }

  std::string in_;
  std::string out_;
  std::string name_;
  std::string plan_;
  std::string assign_;
  std::optional<std::int64_t> capacity_;
  PresetFlags preset_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_convert_command() { return std::make_unique<ConvertCommand>(); }

}  // namespace stowage
