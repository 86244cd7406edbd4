#include "cli/flags/command.h"

namespace stowage {

std::vector<std::unique_ptr<Command>> make_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_solve_command());
  commands.push_back(make_verify_command());
  commands.push_back(make_run_command());
  commands.push_back(make_render_command());
  commands.push_back(make_memory_command());
  commands.push_back(make_configure_command());
  commands.push_back(make_compare_command());
  commands.push_back(make_explain_command());
  commands.push_back(make_plan_stream_command());
  commands.push_back(make_partition_command());
  commands.push_back(make_audit_command());
  commands.push_back(make_generate_scatter_command());
  commands.push_back(make_generate_assign_command());
  commands.push_back(make_generate_layout_command());
  commands.push_back(make_generate_order_command());
  commands.push_back(make_generate_strategy_command());
  commands.push_back(make_convert_command());
  commands.push_back(make_propose_command());
  commands.push_back(make_fit_command());
  commands.push_back(make_calibrate_command());
  commands.push_back(make_export_command());
  commands.push_back(make_import_command());
  commands.push_back(make_params_command());
  commands.push_back(make_schema_command());
  commands.push_back(make_completion_command());
  commands.push_back(make_manual_command());
  std::erase(commands, nullptr);
  return commands;
}

std::vector<CommandManual> command_manuals() {
  std::vector<CommandManual> manuals;
  for (const auto& command : make_commands()) {
    const CommandText text = command->text();
    Flags flags("stowage " + std::string(text.name), std::string(text.arguments),
                std::string(text.summary));
    command->declare(flags);
    manuals.push_back({text, flags.texts()});
  }
  return manuals;
}

}  // namespace stowage
