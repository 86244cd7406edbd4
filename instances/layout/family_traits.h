// The family of layouts: buffers with known lifetimes in one memory.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "instances/family_list.h"
#include "instances/layout/json/json.h"
#include "instances/layout/verify/verify.h"
#include "instances/unit.h"

namespace stowage {

class JsonWriter;

// Writes the plan inside other documents (instances/json/writer.h).
void write_json(JsonWriter& json, const LayoutPlan& plan);

struct Layout {
  using Instance = LayoutInstance;
  using Plan = LayoutPlan;
  using Certificate = NoCertificate<Layout>;

  static constexpr std::string_view name = "layout";
  static constexpr Unit unit = kBytes;  // of the objective

  // A layout names no other file.
  static Result<Instance> read_instance(std::string_view text, const std::string&) {
    return read_layout_instance(text);
  }
  static constexpr auto read_plan = read_layout_plan;
  static Result<std::optional<Certificate>> read_certificate(std::string_view) {
    return std::optional<Certificate>();
  }
  static constexpr auto write_instance = write_layout_instance;
  static constexpr auto write_plan = write_layout_plan;
  // Returns the errors of an instance in memory that its document cannot express.
  static constexpr auto hidden_errors = hidden_layout_errors;

  static int devices(const Instance&) { return 0; }  // a layout describes one rank
  static std::size_t size(const Instance& instance) { return instance.buffers.size(); }
};

}  // namespace stowage
