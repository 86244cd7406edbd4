// Where `stowage generate` puts a step that was made from lengths, and what it says about it.
#pragma once

#include <string>

#include "cli/families/families.h"
#include "cli/terminal/console.h"
#include "cli/terminal/files.h"
#include "instances/lengths/source.h"
#include "instances/numbers.h"

namespace stowage {

// To the file `output`, or to stdout if that is empty or "-". GeneratedT is GeneratedScatter or
// GeneratedAssign; `family` is the problem's name.
template <class GeneratedT>
ExitCode put_generated(Console& console, const std::string& family, const GeneratedT& generated,
                       const std::string& output) {
  const Instance instance = generated.instance;
  std::string line = "instance  " + family + "  " + printable(instance_name(instance)) + "   " +
                     instance_size(instance);
  if (generated.above > 0) {
    line += "; " + grouped(generated.above) + " above " + grouped(generated.longest_allowed) +
            " tokens " +
            (generated.generator.above_limit == AboveLimit::clip ? "clipped" : "dropped");
  }
  const std::string text = write_generated(generated);
  if (output.empty() || output == "-") {
    console.info(line);
    return console.answer(text, ExitCode::ok);
  }
  if (auto error = write_file(output, text)) return console.refuse(*error);
  console.info(line + "  -> " + output);
  return ExitCode::ok;
}

}  // namespace stowage
