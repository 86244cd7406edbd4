// The flags that choose a published cluster and model, shared by generate and convert.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags/flags.h"
#include "cli/terminal/console.h"
#include "instances/result.h"
#include "instances/scatter/generate/generate.h"

namespace stowage {

// --preset, --machine, --formulas, --devices, --limit, --memory, --degrees, --largest-degree,
// --pad-multiple, --offload and --mixed.
class PresetFlags {
 public:
  void declare(Flags& flags);

  // Returns a generator of this cluster (scatter_cluster()), whose source has the defaults. Error:
  // --limit is not a number of tokens.
  Result<ScatterGenerator> generator(Console& console) const;
  // Returns whether any of these flags was given.
  bool given() const;

 private:
  std::string model_;    // empty: not given
  std::string machine_;  // empty: not given
  std::optional<std::int64_t> formulas_;
  std::optional<std::int64_t> devices_;
  std::string limit_;
  std::optional<double> memory_mib_;
  std::string degrees_;
  std::optional<std::int64_t> largest_degree_;
  std::optional<std::int64_t> pad_multiple_;
  std::optional<double> offload_mib_per_ms_;
  std::optional<double> mixed_hidden_share_;
};

// Converts the generator's errors, which point at its options ("/limit_tokens"), to errors at the
// flags ("--limit").
std::vector<CliError> as_flag_errors(const std::vector<InputError>& errors,
                                     const std::string& model_flag = "--preset");

}  // namespace stowage
