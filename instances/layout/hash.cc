// The fingerprint of a layout instance.
#include "instances/document/fingerprint.h"
#include "instances/layout/json/json.h"

namespace stowage {

// The hash leaves out ids, layers and recorded_from, which only name and explain: none changes
// which plans are valid.
std::string instance_hash(const LayoutInstance& instance) {
  Fingerprint fingerprint;
  const auto add_optional = [&](const std::optional<Bytes>& value) {
    fingerprint.add(std::int64_t{value ? 1 : 0});
    fingerprint.add(value.value_or(0));
  };
  add_optional(instance.capacity);
  fingerprint.add(instance.alignment);
  fingerprint.add(static_cast<std::int64_t>(instance.buffers.size()));
  for (const Buffer& buffer : instance.buffers) {
    fingerprint.add(buffer.lower);
    fingerprint.add(buffer.upper);
    fingerprint.add(buffer.size);
    fingerprint.add(buffer.alignment);
    add_optional(buffer.offset);
    fingerprint.add(static_cast<std::int64_t>(buffer.gaps.size()));
    for (const Lifetime& gap : buffer.gaps) {
      fingerprint.add(gap.lower);
      fingerprint.add(gap.upper);
    }
  }
  return fingerprint.text();
}

}  // namespace stowage
