// Feeds arbitrary bytes to the readers of trainer files.
//
// An input is a trainer file, binary or JSON. No call may crash, errors must be named, and an
// accepted step must have no faults and be equal after both forms.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "instances/trainer/step.h"

namespace stowage {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

void check_step(const TrainerStep& step) {
  require(trainer_faults(step).empty(), "an accepted step has no faults");
  const auto same = read_trainer_file(write_trainer_binary(step));
  require(same && *same == step, "a binary file reads back the same");
  const auto json = read_trainer_file(write_trainer_json(step));
  require(json && *json == step, "a JSON file reads back the same");
}

}  // namespace
}  // namespace stowage

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;  // NOLINT(google-build-using-namespace): extern "C" stands outside
  const auto step = read_trainer_file(std::string(data, data + size));
  if (step) {
    check_step(*step);
    return 0;
  }
  require(!step.errors().empty(), "a failed read names an error");
  for (const InputError& error : step.errors()) {
    require(!error.code.empty() && !error.message.empty(), "an error has a code and a message");
  }
  return 0;
}
