#include "cli/families/families.h"

#include "cli/families/each.h"
#include "cli/terminal/console.h"

namespace stowage {

const std::string& instance_name(const Instance& instance) {
  return std::visit([](const auto& i) -> const std::string& { return i.name; }, instance);
}

std::string hash_of(const Instance& instance) {
  return std::visit([](const auto& i) { return instance_hash(i); }, instance);
}

std::string instance_size(const Instance& instance) {
  return std::visit([](const auto& i) { return size_of(i); }, instance);
}

std::string instance_line(const Instance& instance) {
  return "instance  " + std::string(family_name(instance)) + "  " + instance_name(instance) +
         "   " + instance_size(instance);
}

Unit objective_unit(const Instance& instance) {
  return std::visit([](const auto& i) { return unit_of(i); }, instance);
}

double plan_objective(const Plan& plan) {
  return std::visit([](const auto& p) { return objective_of(p); }, plan);
}

double plan_bound(const Plan& plan) {
  return std::visit([](const auto& p) { return bound_of(p); }, plan);
}

const std::string& plan_bound_by(const Plan& plan) {
  return std::visit([](const auto& p) -> const std::string& { return p.bound_by; }, plan);
}

const std::string& plan_hash(const Plan& plan) {
  return std::visit([](const auto& p) -> const std::string& { return p.instance_hash; }, plan);
}

std::string_view plan_parts(const Instance& instance) {
  return std::visit([](const auto& i) { return parts_of(i); }, instance);
}

std::int64_t part_count(const Plan& plan) {
  return std::visit([](const auto& p) { return part_count_of(p); }, plan);
}

std::string plan_detail(const Plan& plan) {
  return std::visit([](const auto& p) { return detail_of(p); }, plan);
}

std::optional<double> plan_simulated(const Plan& plan) {
  return std::visit(
      [](const auto& p) -> std::optional<double> {
        if constexpr (requires { p.simulated_1f1b_ms; }) {
          if (p.simulated_1f1b_ms > 0) return p.simulated_1f1b_ms;
        }
        return std::nullopt;
      },
      plan);
}

std::optional<double> simulated_end_bound(const Instance& instance) {
  return std::visit(
      [](const auto& i) -> std::optional<double> {
        if constexpr (requires { simulated_end_bound_of(i); }) return simulated_end_bound_of(i);
        return std::nullopt;
      },
      instance);
}

Picture plan_picture(const Instance& instance, const Plan& plan, const ShownBounds& bounds) {
  return visit_both([&](const auto& i, const auto& p) { return picture_of(i, p, bounds); },
                    instance, plan);
}

std::optional<Picture> lengths_picture(const Instance& instance, const Plan& plan) {
  return visit_both([](const auto& i, const auto& p) { return lengths_of(i, p); }, instance, plan);
}

std::optional<Picture> exchange_picture(const Instance& instance) {
  return std::visit([](const auto& i) { return exchange_of(i); }, instance);
}

std::vector<std::pair<std::string, std::string>> plan_facts(const Instance& instance,
                                                            const Plan& plan) {
  return visit_both([](const auto& i, const auto& p) { return facts_of(i, p); }, instance, plan);
}

std::vector<NamedBound> closed_form_bounds(const Instance& instance) {
  return std::visit([](const auto& i) { return closed_form_bounds_of(i); }, instance);
}

BoundNames bound_names(const Instance& instance) {
  return std::visit([](const auto& i) { return bound_names_of(i); }, instance);
}

std::string method_list() {
  std::string list;
  Families::each([&](auto family) {
    list += (list.empty() ? "" : "; ") + std::string(family.name) + ": " + method_list_of(family);
  });
  return list;
}

std::string method_list(std::string_view family_name) {
  std::string list;
  Families::with_name(family_name, [&](auto family) { list = method_list_of(family); });
  return list;
}

std::string plan_json(const Plan& plan) {
  JsonWriter json;
  write_plan(json, plan);
  return json.take();
}

void write_plan(JsonWriter& json, const Plan& plan) {
  std::visit([&json](const auto& p) { write_json(json, p); }, plan);
}

std::vector<std::string> infeasibility_report(const Instance& instance, const Outcome& outcome) {
  std::vector<std::string> lines =
      std::visit([&](const auto& i) { return infeasibility_of(i, outcome.unplaceable); }, instance);
  if (!outcome.remedy.empty()) lines.push_back("remedy: " + outcome.remedy);
  return lines;
}

}  // namespace stowage
