// --column, and the files of lengths that commands read with it.
//
//   ColumnFlag column_;                                       // a member of the command
//   column_.declare(flags);                                   // in declare()
//   const auto lengths = column_.read(console, bytes, path);  // in run()
//   if (!lengths.value) return console.refuse(lengths.errors);
#pragma once

#include <string>
#include <vector>

#include "cli/families/load.h"
#include "cli/flags/flags.h"
#include "cli/terminal/console.h"
#include "instances/lengths/list.h"
#include "instances/units.h"

namespace stowage {

class ColumnFlag {
 public:
  void declare(Flags& flags);

  bool given() const { return !column_.empty(); }

  // Reads the selected lengths of a file, whose bytes decide its format
  // (instances/lengths/length_file.h). Tells what was skipped or summed.
  Loaded<std::vector<Tokens>> read(Console& console, const std::string& bytes,
                                   const std::string& path,
                                   const LengthSelection& selection = {}) const;

  // Reads the file at `path`, or stdin for "-", in the same way.
  Loaded<std::vector<Tokens>> read_at(Console& console, const std::string& path,
                                      const LengthSelection& selection = {}) const;

 private:
  std::string column_;
};

}  // namespace stowage
