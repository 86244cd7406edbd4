#include "cli/answers/execution/memory_text.h"

#include <string>

#include "cli/terminal/table.h"
#include "instances/numeric/numbers.h"

namespace stowage {

void tell_checks(Console& console,
                 std::initializer_list<std::pair<std::string_view, kernels::BitwiseCheck>> checks) {
  if (console.settings.level < LogLevel::info) return;
  Table table({{"tensors", Align::left},
               {"compared", Align::right},
               {"differing", Align::right},
               {"", Align::left}});
  for (const auto& [name, check] : checks) {
    table.add({std::string(name), grouped(check.compared), grouped(check.differing),
               check.passed() ? "pass" : "FAIL"});
  }
  console.table(table);
}

void tell_exercise(Console& console, const kernels::MemoryExercise& report) {
  console.info("exercise  " + counted(report.fillings, "buffer") +
               " filled and read back, sizes divided by " + grouped(report.scale) + ", " +
               grouped(report.arena_bytes) + " bytes of arena");
}

void tell_end(Console& console, Bytes planned, Bytes high_water, const kernels::Problems& problems,
              ExitCode code) {
  for (const std::string& problem : problems.list()) console.finding("problem   " + problem);
  if (problems.omitted() > 0) {
    console.warn("and " + grouped(problems.omitted()) + " more problems");
  }
  console.verdict(code == ExitCode::ok        ? "pass"
                  : code == ExitCode::unknown ? "stopped"
                                              : "fail",
                  "  planned peak " + grouped(planned) + " bytes  high water " +
                      grouped(high_water) + " bytes");
}

}  // namespace stowage
