// stowage convert: converts files of other tools to instances, layouts to MiniMalloc's tables, and
// plans to files for a training loop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/families/families.h"
#include "cli/flags/column_flag.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/preset_flags.h"
#include "instances/instance.h"
#include "instances/layout/instance.h"
#include "instances/order/instance.h"
#include "instances/result.h"
#include "instances/trainer/step.h"

namespace stowage {

class ConvertCommand : public Command {
 public:
  CommandText text() const override;
  void declare(Flags& flags) override;
  ExitCode run(Console& console) override;

 private:
  // "data/lengths.txt" -> "lengths"
  static std::string stem(const std::string& path) {
    if (path == "-") return "stdin";
    const std::string file = path.substr(path.find_last_of('/') + 1);
    const std::size_t dot = file.find_last_of('.');
    return dot == std::string::npos || dot == 0 ? file : file.substr(0, dot);
  }

  static bool is_csv(const std::string& path) { return path.ends_with(".csv"); }
  static bool is_binary(const std::string& path) { return path.ends_with(".bin"); }

  std::optional<InputError> misplaced_flag() const;
  ExitCode by_content(Console& console, const std::string& bytes) const;
  ExitCode to_assign(Console& console, const std::string& text) const;
  ExitCode from_lengths(Console& console, const std::string& text) const;
  ExitCode from_table(Console& console, const std::string& text) const;
  void take_capacity(Console& console, LayoutInstance& layout) const;
  ExitCode to_table(Console& console) const;
  static std::optional<ExitCode> refuse_invalid(Console& console, const InstanceAndPlan& both);
  ExitCode to_trainer(Console& console) const;
  ExitCode order_to_layout(Console& console, const OrderInstance& graph,
                           const OrderPlan& plan) const;
  ExitCode to_layout(Console& console, const LayoutInstance& layout) const;
  ExitCode between_trainers(Console& console, const std::string& bytes) const;
  ExitCode write_step(Console& console, const TrainerStep& step) const;
  ExitCode write_table(Console& console, const LayoutInstance& layout,
                       const Result<std::string>& table) const;
  ExitCode write(Console& console, const Instance& instance, const std::string& text) const;
  ExitCode write(Console& console, const std::string& what, const std::string& text) const;

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

}  // namespace stowage
