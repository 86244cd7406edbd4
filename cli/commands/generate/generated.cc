#include "cli/commands/generate/generated.h"

#include "cli/terminal/files.h"

namespace stowage {

ExitCode put_instance(Console& console, const Instance& instance, const std::string& text,
                      const std::string& output, const std::string& remark) {
  const std::string line = instance_line(instance) + remark;
  if (output.empty() || output == "-") {
    console.info(line);
    return console.answer(text, ExitCode::ok);
  }
  if (auto error = write_file(output, text)) return console.refuse(*error);
  console.info(line + "  -> " + output);
  return ExitCode::ok;
}

}  // namespace stowage
