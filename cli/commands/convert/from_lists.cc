// Instances that convert makes of lists: of lengths, and of buffers.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/convert/convert_command.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/column_flag.h"
#include "cli/flags/command.h"
#include "cli/flags/preset_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "instances/assign/json/json.h"
#include "instances/assign/presets.h"
#include "instances/assign/trainer.h"
#include "instances/layout/json/csv.h"
#include "instances/layout/json/json.h"
#include "instances/layout/load.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/json/json.h"
#include "instances/verify.h"

namespace stowage {

ExitCode ConvertCommand::to_assign(Console& console, const std::string& text) const {
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

ExitCode ConvertCommand::from_lengths(Console& console, const std::string& text) const {
  const Result<ScatterGenerator> generator = preset_.generator(console);
  if (!generator) return console.refuse(generator.errors().front());
  Result<ScatterInstance> converted = scatter_cluster(*generator);
  if (!converted) return console.refuse(as_flag_errors(converted.errors()));
  Loaded<std::vector<Tokens>> lengths = column_.read(console, text, in_);
  if (!lengths.value) return console.refuse(lengths.errors);

  ScatterInstance scatter = *std::move(converted);
  scatter.lengths = *std::move(lengths.value);
  scatter.name = name_.empty() ? stem(in_) : name_;
  const Tokens limit = generator->preset.limit_tokens;
  if (const auto beyond =
          std::ranges::count_if(scatter.lengths, [&](Tokens s) { return s > limit; });
      beyond > 0) {
    const std::string are = beyond == 1 ? " is" : " are";
    console.warn(grouped(beyond) + " of " + counted(std::ssize(scatter.lengths), "sequence") + are +
                 " longer than the model's limit of " + grouped(limit) + " tokens, and" + are +
                 " kept: generate scatter drops or clips what is too long");
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

ExitCode ConvertCommand::from_table(Console& console, const std::string& text) const {
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

void ConvertCommand::take_capacity(Console& console, LayoutInstance& layout) const {
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

}  // namespace stowage
