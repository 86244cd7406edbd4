// The flags of convert, the choice of a conversion, and the files that it writes.
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands/convert/content.h"
#include "cli/commands/convert/convert_command.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/column_flag.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/preset_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "instances/assign/presets.h"
#include "instances/layout/json/csv.h"
#include "instances/numeric/numbers.h"
#include "instances/trainer/step.h"

namespace stowage {

CommandText ConvertCommand::text() const {
  return {
      .name = "convert",
      .arguments = "IN OUT",
      .summary = "Make an instance of lengths or a table of buffers, or a trainer file of a plan",
      .examples = {"stowage convert lengths.txt step.json --devices 16",
                   "stowage convert buffers.1048576.csv layout.json",
                   "stowage convert instance.json trainer.bin --plan plan.json"}};
}

void ConvertCommand::declare(Flags& flags) {
  flags.positional("IN", in_,
                   "Lengths: one a line, a JSON array, .npy, an index of Megatron-LM (.idx), or "
                   "with --column a table (.csv) or JSON lines; a table of buffers (.csv); an "
                   "instance, to make a table or, with --plan, a trainer file; or a trainer "
                   "file. - for stdin");
  column_.declare(flags);
  flags.positional("OUT", out_,
                   "An instance; a table (.csv); a trainer file, binary (.bin) or JSON. - for "
                   "stdout");
  preset_.declare(flags);
  std::vector<std::string> models;
  for (const std::string_view model : assign_preset_models()) models.emplace_back(model);
  flags.choice("--assign", assign_, models,
               "Make an assign instance of this model from lengths, not a scatter instance");
  flags.integer("--capacity", capacity_, "BYTES", 0, kMaxExact,
                "Capacity of the layout, 0 for none; default the number in NAME.BYTES.csv, if the "
                "load of the table fits");
  flags.text(
      "--plan", plan_, "PLAN",
      "A plan of the instance: for a trainer file, for pins at its offsets in a table, or of "
      "an order for the layout of its tensors");
  flags.text("--tokens", tokens_, "TOKENS",
             "Of an order whose sizes grow with a length: the layout of the row that holds this "
             "one, which is one of all lengths of the row; default the longest");
  flags.text("--name", name_, "NAME", "Name of the instance; default the name of the file");
  output_flags_.declare(flags, false);
}

ExitCode ConvertCommand::run(Console& console) {
  output_flags_.apply(console);
  if (auto error = check_output("OUT", out_, {in_, plan_})) return console.refuse(*error);
  std::optional<std::string> read;
  if (is_csv(in_)) {
    Result<std::string> bytes = read_file(in_);
    if (!bytes) return console.refuse(bytes.errors().front());
    read = *std::move(bytes);
    table_ = !column_.given() && names_buffers(*read);
  }
  if (auto error = misplaced_flag()) return console.refuse(*error);
  if (is_csv(out_)) return to_table(console);
  if (!plan_.empty()) return to_trainer(console);
  if (is_binary(in_)) {
    const Result<std::string> bytes = read_file(in_);
    return bytes ? between_trainers(console, *bytes) : console.refuse(bytes.errors().front());
  }
  if (table_) return from_table(console, *read);
  if (!read) {
    Result<std::string> bytes = read_file(in_);
    if (!bytes) return console.refuse(bytes.errors().front());
    read = *std::move(bytes);
  }
  return by_content(console, *read);
}

std::optional<InputError> ConvertCommand::misplaced_flag() const {
  const auto complaint = [](const char* flag, const char* why) {
    return InputError{kUsage, flag, std::string("has an effect only ") + why};
  };
  const bool trainer = !plan_.empty() || is_binary(in_) || is_binary(out_);
  const bool lengths = !table_ && !is_csv(out_) && !trainer;
  if (column_.given() && !lengths) return complaint("--column", "on lists of lengths");
  if (preset_.given() && !lengths) return complaint("--preset", "on lists of lengths");
  if (!assign_.empty() && !lengths) return complaint("--assign", "on lists of lengths");
  if (!assign_.empty() && preset_.given()) {
    return InputError{kUsage, "--assign",
                      "is a preset with a cluster of its own: leave out --preset, --devices and "
                      "the other flags that describe one"};
  }
  if (capacity_ && !table_) return complaint("--capacity", "where IN is a table");
  if (!tokens_.empty() && plan_.empty()) return complaint("--tokens", "with --plan");
  if (!plan_.empty() && is_csv(in_)) return complaint("--plan", "where IN is an instance");
  if (!name_.empty() && (is_csv(out_) || trainer)) {
    return complaint("--name", "where OUT is an instance");
  }
  return std::nullopt;
}

// Converts if neither file name determines the format of IN.
ExitCode ConvertCommand::by_content(Console& console, const std::string& bytes) const {
  const Result<ConvertContent> content = convert_content(bytes, in_, column_.given());
  if (!content) return console.refuse(content.errors().front());
  if (*content == ConvertContent::lengths) {
    if (is_binary(out_)) {
      return console.refuse({kUsage, "OUT",
                             "is a trainer's file by its name, and a list of lengths has no plan: "
                             "make an instance of it, solve it, and convert it with --plan"});
    }
    return assign_.empty() ? from_lengths(console, bytes) : to_assign(console, bytes);
  }
  for (const auto& [flag, given] : {std::pair("--preset", preset_.given()),
                                    {"--column", column_.given()},
                                    {"--assign", !assign_.empty()},
                                    {"--name", !name_.empty()}}) {
    if (given) return console.refuse({kUsage, flag, "has no effect on a trainer's file"});
  }
  return between_trainers(console, bytes);
}

ExitCode ConvertCommand::write_step(Console& console, const TrainerStep& step) const {
  const std::string bytes = is_binary(out_) ? write_trainer_binary(step) : write_trainer_json(step);
  // The JSON of a step with many million sequences can exceed the limit of our reader.
  if (const auto again = read_trainer_file(bytes); !again) {
    return console.refuse(errors_in(out_, again.errors()));
  }
  return write(console,
               "trainer   " + step.problem + "  " + step.name + "   " +
                   counted(step.ranks, "rank") + ", " +
                   counted(step.micro_batches, "micro-batch", "micro-batches") + ", " +
                   counted(std::ssize(step.batches), "batch", "batches") + ", " +
                   counted(step.loss_denominator(), step.version() == 1 ? "token" : "target"),
               bytes);
}

ExitCode ConvertCommand::write_table(Console& console, const LayoutInstance& layout,
                                     const Result<std::string>& table) const {
  if (!table) return console.refuse(errors_in(in_, table.errors()));
  const auto warn_of = [&console](const std::string& lost) {
    console.warn("a table has no room for " + lost);
  };
  if (layout.capacity) warn_of("the capacity of " + grouped(*layout.capacity) + " bytes");
  if (!layout.layers.empty()) {
    warn_of("layers: " + grouped(static_cast<std::int64_t>(layout.layers.size())) +
            " repeated blocks are left out");
  }
  if (layout.recorded_from) warn_of("recorded_from: it is left out");
  return write(console, layout, *table);
}

ExitCode ConvertCommand::write(Console& console, const Instance& instance,
                               const std::string& text) const {
  return write(console, instance_line(instance), text);
}

ExitCode ConvertCommand::write(Console& console, const std::string& what,
                               const std::string& text) const {
  const std::string line = what + "  -> " + out_;
  if (out_ == "-") {
    console.info(line);
    return console.answer(text, ExitCode::ok);
  }
  if (auto error = write_file(out_, text)) return console.refuse(*error);
  console.info(line);
  return ExitCode::ok;
}

std::unique_ptr<Command> make_convert_command() { return std::make_unique<ConvertCommand>(); }

}  // namespace stowage
