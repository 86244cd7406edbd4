// The keys of a logged run, and the fields of a line. Private to the readers of runs.
//
//   for (const std::string_view cell : fields_by(line, ',')) keys.push_back(run_key(cell));
#pragma once

#include <string_view>
#include <vector>

namespace stowage {

// Returns all keys of a run.
std::vector<std::string_view> run_keys();

// Returns the key that a word stands for: itself, or the key of which it is another name.
std::string_view run_key(std::string_view word);

// Returns whether the key is part of a configuration; micro_batch_size is not.
bool is_configuration_key(std::string_view key);

// Returns the parts of a text between separators, without the spaces around them.
std::vector<std::string_view> fields_by(std::string_view text, char by);

}  // namespace stowage
