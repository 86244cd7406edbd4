// stowage convert: converts files of other tools to instances, layouts to MiniMalloc's tables, and
// plans to files for a training loop. Longer than 300 lines: each pair of formats takes a few
// lines.
#include <algorithm>
#include <utility>

#include "cli/commands/convert/content.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/column_flag.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/preset_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "instances/assign/json/json.h"
#include "instances/assign/presets.h"
#include "instances/assign/trainer.h"
#include "instances/document/header.h"
#include "instances/families.h"
#include "instances/json/errors.h"
#include "instances/layout/json/csv.h"
#include "instances/layout/json/json.h"
#include "instances/layout/load.h"
#include "instances/numeric/numbers.h"
#include "instances/order/plan.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/trainer.h"
#include "instances/trainer/step.h"
#include "instances/verify.h"
#include "solvers/memory/order_layout.h"

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
bool is_binary(const std::string& path) { return path.ends_with(".bin"); }

class ConvertCommand : public Command {
 public:
  CommandText text() const override {
    return {
        .name = "convert",
        .arguments = "IN OUT",
        .summary = "Make an instance of lengths or a table of buffers, or a trainer file of a plan",
        .examples = {"stowage convert lengths.txt step.json --devices 16",
                     "stowage convert buffers.1048576.csv layout.json",
                     "stowage convert instance.json trainer.bin --plan plan.json"}};
  }

  void declare(Flags& flags) override {
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
    flags.integer(
        "--capacity", capacity_, "BYTES", 0, kMaxExact,
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

  ExitCode run(Console& console) override {
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

 private:
  std::optional<InputError> misplaced_flag() const {
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
  ExitCode by_content(Console& console, const std::string& bytes) const {
    const Result<ConvertContent> content = convert_content(bytes, in_, column_.given());
    if (!content) return console.refuse(content.errors().front());
    if (*content == ConvertContent::lengths) {
      if (is_binary(out_)) {
        return console.refuse(
            {kUsage, "OUT",
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

  ExitCode to_assign(Console& console, const std::string& text) const {
    Result<AssignInstance> converted = assign_preset(assign_);
    if (!converted) return console.refuse(as_flag_errors(converted.errors()));
    Loaded<std::vector<Tokens>> lengths = column_.read(console, text, in_);
    if (!lengths.value) return console.refuse(lengths.errors);
    AssignInstance assign = *std::move(converted);
    assign.lengths = *std::move(lengths.value);
    assign.name = name_.empty() ? stem(in_) : name_;
    const std::string json = write_assign_instance(assign);
    if (const auto again = read_assign_instance(json); !again) {
      return console.refuse(errors_in(in_, again.errors()));
    }
    const auto unplaceable = static_cast<std::int64_t>(unplaceable_sequences(assign).size());
    if (unplaceable > 0) {
      console.warn(counted(unplaceable, "sequence fits", "sequences fit") +
                   " no strategy: solve will call it infeasible");
    }
    return write(console, assign, json);
  }

  ExitCode from_lengths(Console& console, const std::string& text) const {
    Result<ScatterPreset> preset = preset_.preset(console);
    if (!preset) return console.refuse(preset.errors().front());
    Result<ScatterInstance> converted = scatter_preset(*preset);
    if (!converted) return console.refuse(as_flag_errors(converted.errors()));
    Loaded<std::vector<Tokens>> lengths = column_.read(console, text, in_);
    if (!lengths.value) return console.refuse(lengths.errors);

    ScatterInstance scatter = *std::move(converted);
    scatter.lengths = *std::move(lengths.value);
    scatter.name = name_.empty() ? stem(in_) : name_;
    if (preset_.pad_multiple()) {
      scatter.padding.reset();
      scatter.pad_multiple = *preset_.pad_multiple();
    }
    const Tokens limit = preset->limit_tokens;
    if (const auto beyond =
            std::ranges::count_if(scatter.lengths, [&](Tokens s) { return s > limit; });
        beyond > 0) {
      const std::string are = beyond == 1 ? " is" : " are";
      console.warn(grouped(beyond) + " of " + counted(std::ssize(scatter.lengths), "sequence") +
                   are + " longer than the model's limit of " + grouped(limit) + " tokens, and" +
                   are + " kept: generate scatter drops or clips what is too long");
    }
    const std::string json = write_scatter_instance(scatter);
    // The output must be accepted by our reader: valid single lengths may sum to too many tokens.
    if (const auto again = read_scatter_instance(json); !again) {
      return console.refuse(errors_in(in_, again.errors()));
    }
    const auto unplaceable = static_cast<std::int64_t>(unplaceable_sequences(scatter).size());
    if (unplaceable > 0) {
      console.warn(counted(unplaceable, "sequence fits", "sequences fit") +
                   " no group: solve will call it infeasible");
    }
    return write(console, scatter, json);
  }

  ExitCode from_table(Console& console, const std::string& text) const {
    std::int64_t partial_gaps = 0;
    Result<LayoutInstance> table = read_layout_csv(text, in_, &partial_gaps);
    if (!table) return console.refuse(errors_in("", table.errors()));
    LayoutInstance layout = *std::move(table);
    layout.name = name_.empty() ? stem(in_) : name_;
    if (partial_gaps > 0) {
      console.warn(counted(partial_gaps, "gap is", "gaps are") +
                   " left out, because the buffer needs some of its bytes there: layouts are valid "
                   "for the table, and bounds hold for the instance");
    }
    take_capacity(console, layout);
    if (const auto why = layout_infeasibility(layout)) {
      console.warn(why->text + ": solve will call it infeasible");
    }
    return write(console, layout, write_layout_instance(layout));
  }

  void take_capacity(Console& console, LayoutInstance& layout) const {
    if (capacity_) {
      if (*capacity_ > 0) layout.capacity = capacity_;
      return;
    }
    const std::optional<Bytes> named = capacity_in_file_name(in_);
    if (!named) return;
    const Bytes load = peak_load(layout).load;
    if (*named >= load) {
      layout.capacity = named;
    } else {
      console.warn("the number " + grouped(*named) + " in the file name is not the capacity, for " +
                   grouped(load) + " bytes are needed at once: --capacity gives a capacity");
    }
  }

  ExitCode to_table(Console& console) const {
    if (!plan_.empty()) {
      const Loaded<InstanceAndPlan> both = load_both(in_, plan_);
      if (!both.value) return console.refuse(both.errors);
      if (auto error = not_of(both.value->instance, "layout")) {
        return console.refuse(errors_in(in_, {*error}));
      }
      if (const auto refused = refuse_invalid(console, *both.value)) return *refused;
      const auto& layout = std::get<LayoutInstance>(both.value->instance);
      return write_table(console, layout,
                         write_layout_csv(layout, std::get<LayoutPlan>(both.value->plan)));
    }
    const Loaded<Instance> instance = load_instance(in_);
    if (!instance.value) return console.refuse(instance.errors);
    if (auto error = not_of(*instance.value, "layout")) {
      return console.refuse(errors_in(in_, {*error}));
    }
    const auto& layout = std::get<LayoutInstance>(*instance.value);
    return write_table(console, layout, write_layout_csv(layout));
  }

  // Refuses to convert an invalid plan; returns nullopt for a valid plan.
  static std::optional<ExitCode> refuse_invalid(Console& console, const InstanceAndPlan& both) {
    const auto violations = verify(both.instance, both.plan);
    if (violations.empty()) return std::nullopt;
    for (const Violation& violation : violations) console.finding(to_string(violation));
    return console.refuse({kUsage, "--plan", "must be valid for the instance, is not"},
                          ExitCode::refused);
  }

  ExitCode to_trainer(Console& console) const {
    const Loaded<InstanceAndPlan> both = load_both(in_, plan_);
    if (!both.value) return console.refuse(both.errors);
    if (auto error = check_output("OUT", out_, both.files)) return console.refuse(*error);
    if (const auto* graph = std::get_if<OrderInstance>(&both.value->instance)) {
      if (is_binary(out_)) {
        return console.refuse({kUsage, "OUT", "must be a layout instance (JSON) for an order"});
      }
      if (const auto refused = refuse_invalid(console, *both.value)) return *refused;
      return order_to_layout(console, *graph, std::get<OrderPlan>(both.value->plan));
    }
    if (!tokens_.empty()) {
      return console.refuse({kUsage, "--tokens", "has an effect only on orders"});
    }
    if (!has_trainer_steps(both.value->instance)) {
      return console.refuse({kUsage, "OUT", "must be a table (.csv) for a layout"});
    }
    if (const auto refused = refuse_invalid(console, *both.value)) return *refused;
    const Result<TrainerStep> step = trainer_step(both.value->instance, both.value->plan);
    if (!step) return console.refuse(errors_in(plan_, step.errors()));
    return write_step(console, *step);
  }

  ExitCode order_to_layout(Console& console, const OrderInstance& graph,
                           const OrderPlan& plan) const {
    if (tokens_.empty()) return to_layout(console, order_layout(graph, plan));
    if (!graph.tokens) {
      return console.refuse(
          {kUsage, "--tokens", "has an effect only where sizes grow with a length"});
    }
    const Result<Tokens> length = read_token_flag(console, "--tokens", tokens_);
    if (!length) return console.refuse(length.errors().front());
    const OrderRow* row = row_at(plan, *length);
    if (row == nullptr) {
      return console.refuse({kUsage, "--tokens",
                             "must be from " + std::to_string(graph.tokens->from) + " to " +
                                 std::to_string(graph.tokens->to) + ", is " +
                                 std::to_string(*length)});
    }
    return to_layout(console, order_layout(graph, *row));
  }

  ExitCode to_layout(Console& console, const LayoutInstance& layout) const {
    const std::string json = write_layout_instance(layout);
    if (const auto again = read_layout_instance(json); !again) {
      return console.refuse(errors_in(out_, again.errors()));
    }
    return write(console, layout, json);
  }

  ExitCode between_trainers(Console& console, const std::string& bytes) const {
    if (const Result<Head> head = read_head(bytes); head && head->format == "stowage/instance") {
      return console.refuse(plan_needed());
    }
    const Result<TrainerStep> step = read_trainer_file(bytes);
    if (!step) return console.refuse(errors_in(in_, step.errors()));
    return write_step(console, *step);
  }

  ExitCode write_step(Console& console, const TrainerStep& step) const {
    const std::string bytes =
        is_binary(out_) ? write_trainer_binary(step) : write_trainer_json(step);
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

  ExitCode write_table(Console& console, const LayoutInstance& layout,
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

  ExitCode write(Console& console, const Instance& instance, const std::string& text) const {
    return write(console, instance_line(instance), text);
  }

  ExitCode write(Console& console, const std::string& what, const std::string& text) const {
    const std::string line = what + "  -> " + out_;
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
  std::string tokens_;
  std::string assign_;
  std::optional<std::int64_t> capacity_;
  bool table_ = false;  // IN is a table of buffers
  PresetFlags preset_;
  ColumnFlag column_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_convert_command() { return std::make_unique<ConvertCommand>(); }

}  // namespace stowage
