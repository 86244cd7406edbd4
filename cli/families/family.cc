// Longer than 300 lines: every question that a command asks of any family stands here.
#include "cli/families/family.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <utility>

#include "cli/families/assign.h"
#include "cli/families/layout.h"
#include "cli/families/scatter.h"
#include "cli/terminal/error_codes.h"
#include "cli/terminal/files.h"
#include "instances/assign/json.h"
#include "instances/json/document.h"
#include "instances/json/errors.h"
#include "instances/layout/json.h"
#include "instances/scatter/json.h"
#include "solvers/outcome.h"

namespace stowage {
namespace {

// The bytes of `path` and what they say they are; nothing and the errors otherwise.
struct Document {
  std::string bytes;
  Head head;
};

Loaded<Document> load_document(const std::string& path,
                               const std::vector<std::string_view>& formats) {
  Result<std::string> bytes = read_file(path);
  if (!bytes) return {std::nullopt, {{"", bytes.errors().front()}}};
  Result<Head> head = read_head(*bytes);
  if (!head) {
    std::vector<InputError> errors = head.errors();
    // The mistake of whoever comes with lengths of their own.
    if (std::isdigit(static_cast<unsigned char>(bytes->empty() ? '\0' : bytes->front())) != 0) {
      errors.front().message +=
          "; a list of lengths becomes an instance with stowage convert LIST INSTANCE";
    }
    return {std::nullopt, errors_in(path, errors)};
  }
  if (std::find(formats.begin(), formats.end(), head->format) == formats.end()) {
    std::string wanted;
    for (const std::string_view format : formats) {
      wanted += (wanted.empty() ? "" : " or ") + std::string(format);
    }
    const InputError error{code::kFormat, "/format",
                           "must be " + wanted + ", is \"" + head->format + '"'};
    return {std::nullopt, errors_in(path, {error})};
  }
  return {Document{*std::move(bytes), *std::move(head)}, {}};
}

template <class Any, class One>
Loaded<Any> loaded(const std::string& path, Result<One> result) {
  if (!result) return {std::nullopt, errors_in(path, result.errors())};
  return {Any(*std::move(result)), {}};
}

Loaded<Document> load_plan_document(const std::string& path) {
  return load_document(path, {"stowage/plan", "stowage/outcome"});
}

Loaded<Plan> plan_in(const std::string& path, const Loaded<Document>& document) {
  if (!document.value) return {std::nullopt, document.errors};
  if (document.value->head.problem == "layout") {
    return loaded<Plan>(path, read_layout_plan(document.value->bytes));
  }
  if (document.value->head.problem == "assign") {
    return loaded<Plan>(path, read_assign_plan(document.value->bytes));
  }
  return loaded<Plan>(path, read_scatter_plan(document.value->bytes));
}

template <class One>
Loaded<std::optional<Certificate>> certificate_from(const std::string& path,
                                                    Result<std::optional<One>> result) {
  if (!result) return {std::nullopt, errors_in(path, result.errors())};
  std::optional<Certificate> certificate;
  if (*result) certificate = **std::move(result);
  return {std::move(certificate), {}};
}

Loaded<std::optional<Certificate>> certificate_in(const std::string& path,
                                                  const Document& document) {
  if (document.head.format == "stowage/outcome") {
    if (document.head.problem == "scatter") {
      return certificate_from(path, read_scatter_certificate(document.bytes));
    }
    if (document.head.problem == "assign") {
      return certificate_from(path, read_assign_certificate(document.bytes));
    }
  }
  return {std::optional<Certificate>(), {}};
}

}  // namespace

Loaded<Instance> load_instance(const std::string& path) {
  Loaded<Document> document = load_document(path, {"stowage/instance"});
  if (!document.value) return {std::nullopt, std::move(document.errors)};
  // read_head has refused every other problem.
  if (document.value->head.problem == "layout") {
    return loaded<Instance>(path, read_layout_instance(document.value->bytes));
  }
  if (document.value->head.problem == "assign") {
    return loaded<Instance>(path, read_assign_instance(document.value->bytes, directory_of(path)));
  }
  return loaded<Instance>(path, read_scatter_instance(document.value->bytes, directory_of(path)));
}

Loaded<Plan> load_plan(const std::string& path) { return plan_in(path, load_plan_document(path)); }

Loaded<InstanceAndPlan> load_both(const std::string& instance_path, const std::string& plan_path) {
  if (instance_path == "-" && plan_path == "-") {
    const InputError twice{kUsage, "PLAN", "stdin is the instance already"};
    return {std::nullopt, {{.error = twice}}};
  }
  Loaded<Instance> instance = load_instance(instance_path);
  const Loaded<Document> document = load_plan_document(plan_path);
  Loaded<Plan> plan = plan_in(plan_path, document);
  std::vector<CliError> errors = std::move(instance.errors);
  errors.insert(errors.end(), plan.errors.begin(), plan.errors.end());
  if (instance.value && plan.value) {
    if (auto error = other_problem(*instance.value, *plan.value)) {
      errors = errors_in(plan_path, {*error});
    } else {
      Loaded<std::optional<Certificate>> certificate = certificate_in(plan_path, *document.value);
      if (!certificate.value) return {std::nullopt, std::move(certificate.errors)};
      auto claims = read_outcome_claims(document.value->bytes, objective_unit(*instance.value));
      if (!claims) return {std::nullopt, errors_in(plan_path, claims.errors())};
      return {
          InstanceAndPlan{*std::move(instance.value), *std::move(plan.value),
                          *std::move(certificate.value), *std::move(claims), document.value->bytes},
          {}};
    }
  }
  return {std::nullopt, std::move(errors)};
}

std::optional<InputError> other_problem(const Instance& instance, const Plan& plan) {
  const std::string_view wanted = problem_name(instance);
  const std::string_view given = std::visit([](const auto& p) { return problem_of(p); }, plan);
  if (wanted == given) return std::nullopt;
  return InputError{code::kProblem, "/problem",
                    "must be \"" + std::string(wanted) + "\" like the instance's, is \"" +
                        std::string(given) + '"'};
}

std::optional<InputError> not_of(const Instance& instance, std::string_view problem) {
  if (problem_name(instance) == problem) return std::nullopt;
  return InputError{code::kProblem, "/problem",
                    "must be \"" + std::string(problem) + "\" for this command, is \"" +
                        std::string(problem_name(instance)) + '"'};
}

std::string_view problem_name(const Instance& instance) {
  return std::visit([](const auto& i) { return problem_of(i); }, instance);
}

const std::string& instance_name(const Instance& instance) {
  return std::visit([](const auto& i) -> const std::string& { return i.name; }, instance);
}

std::string hash_of(const Instance& instance) {
  return std::visit([](const auto& i) { return instance_hash(i); }, instance);
}

std::string instance_size(const Instance& instance) {
  return std::visit([](const auto& i) { return size_of(i); }, instance);
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

std::string_view plan_parts(const Instance& instance) {
  return std::visit([](const auto& i) { return parts_of(i); }, instance);
}

std::int64_t part_count(const Plan& plan) {
  return std::visit([](const auto& p) { return part_count_of(p); }, plan);
}

std::string plan_detail(const Plan& plan) {
  return std::visit([](const auto& p) { return detail_of(p); }, plan);
}

std::vector<Violation> verify_plan(const Instance& instance, const Plan& plan) {
  return std::visit(
      [&plan](const auto& i) {
        const auto& own = std::get<typename PlanOf<std::decay_t<decltype(i)>>::type>(plan);
        // First: a plan of another instance breaks the other rules for that reason alone.
        std::vector<Violation> violations = verify_instance_hash(own, instance_hash(i));
        for (Violation& v : verify(i, own)) violations.push_back(std::move(v));
        return violations;
      },
      instance);
}

namespace {

// Appends what is wrong with the certificate; otherwise returns the bound it proves. Requires an
// instance of its family.
std::optional<NamedBound> verify_certificate(const Instance& instance,
                                             const Certificate& certificate,
                                             std::vector<Violation>& violations) {
  const auto answer = [&](auto check, const char* name) -> std::optional<NamedBound> {
    if (check.violations.empty()) return NamedBound{name, check.bound_ms};
    std::ranges::move(check.violations, std::back_inserter(violations));
    return std::nullopt;
  };
  if (const auto* assign = std::get_if<AssignCertificate>(&certificate)) {
    return answer(check_certificate(std::get<AssignInstance>(instance), *assign), "patterns");
  }
  const auto& scatter = std::get<ScatterCertificate>(certificate);
  return answer(check_certificate(std::get<ScatterInstance>(instance), scatter),
                scatter.profiles.empty() ? "step-lp" : "profile");
}

// The best bound that needs no search. Nothing for an instance that has no plan or no sequence.
std::optional<NamedBound> recomputed_bound(const Instance& instance) {
  return std::visit([](const auto& i) { return closed_form_bound_of(i); }, instance);
}

}  // namespace

Judgement judge(const InstanceAndPlan& both) {
  Judgement judgement{.violations = verify_plan(both.instance, both.plan)};
  if (both.claims) {
    check_claims(*both.claims, both.plan, objective_unit(both.instance), judgement.violations);
  }
  judgement.proven = recomputed_bound(both.instance);
  if (both.certificate) {
    const auto certified =
        verify_certificate(both.instance, *both.certificate, judgement.violations);
    if (certified && (!judgement.proven || certified->value > judgement.proven->value)) {
      judgement.proven = certified;
    }
  }
  const double proven = judgement.proven ? judgement.proven->value : 0;
  if (judgement.proven) judgement.shown.proven = {proven, judgement.proven->name};
  if (plan_bound(both.plan) > proven * (1 + kOptimalityGap)) {
    judgement.shown.claimed = {plan_bound(both.plan), plan_bound_by(both.plan)};
  }
  return judgement;
}

Picture plan_picture(const Instance& instance, const Plan& plan, const ShownBounds& bounds) {
  return std::visit(
      [&](const auto& i) {
        return picture_of(i, std::get<typename PlanOf<std::decay_t<decltype(i)>>::type>(plan),
                          bounds);
      },
      instance);
}

std::optional<Picture> lengths_picture(const Instance& instance, const Plan& plan) {
  return std::visit(
      [&](const auto& i) {
        return lengths_of(i, std::get<typename PlanOf<std::decay_t<decltype(i)>>::type>(plan));
      },
      instance);
}

std::vector<std::pair<std::string, std::string>> plan_facts(const Instance& instance,
                                                            const Plan& plan) {
  return std::visit(
      [&](const auto& i) {
        return facts_of(i, std::get<typename PlanOf<std::decay_t<decltype(i)>>::type>(plan));
      },
      instance);
}

bool is_closed_form(const std::string& bound_by) {
  constexpr std::array<std::string_view, 10> kClosedForm = {
      "longest", "area",       "pigeonhole", "load",   "rows",
      "work",    "strategies", "chain",      "single", "unit"};
  return std::find(kClosedForm.begin(), kClosedForm.end(), bound_by) != kClosedForm.end();
}

std::string plan_json(const Plan& plan) {
  JsonWriter json;
  write_plan(json, plan);
  return json.take();
}

void write_plan(JsonWriter& json, const Plan& plan) {
  std::visit([&json](const auto& p) { write_json(json, p); }, plan);
}

std::vector<std::string> infeasibility_report(const Instance& instance,
                                              const std::vector<std::int64_t>& unplaceable) {
  return std::visit([&](const auto& i) { return infeasibility_of(i, unplaceable); }, instance);
}

}  // namespace stowage
