#include "instances/model/recorded_block_json.h"

#include <string>

namespace stowage {

void check_recorded(const RecordedBlock& block, const ObjectReader& reader) {
  if (block.heads % block.kv_heads != 0) {
    reader.errors().add(code::kRecorded, reader.at("kv_heads").pointer(),
                        "must divide the heads, " + std::to_string(block.heads) + ", is " +
                            std::to_string(block.kv_heads));
  }
  if (block.head_dim % 2 != 0) {
    reader.errors().add(code::kRecorded, reader.at("head_dim").pointer(),
                        "must be even, is " + std::to_string(block.head_dim));
  }
}

}  // namespace stowage
