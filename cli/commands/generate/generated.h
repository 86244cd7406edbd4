// Writes the instance of `stowage generate` and the lines about it.
#pragma once

#include <string>

#include "cli/families/families.h"
#include "cli/terminal/console.h"
#include "instances/lengths/source.h"
#include "instances/numeric/numbers.h"

namespace stowage {

// `text` is the document of the instance. It is written to the file `output`, or to stdout if that
// is empty or "-". `remark` is appended to the line that names the instance.
ExitCode put_instance(Console& console, const Instance& instance, const std::string& text,
                      const std::string& output, const std::string& remark = "");

// Writes a step that was generated from lengths. GeneratedT is GeneratedScatter or GeneratedAssign.
template <class GeneratedT>
ExitCode put_generated(Console& console, const GeneratedT& generated, const std::string& output) {
  std::string remark;
  if (generated.above > 0) {
    remark = "; " + grouped(generated.above) + " above " + grouped(generated.longest_allowed) +
             " tokens " +
             (generated.generator.above_limit == AboveLimit::clip ? "clipped" : "dropped");
  }
  return put_instance(console, generated.instance, write_generated(generated), output, remark);
}

}  // namespace stowage
