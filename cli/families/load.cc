#include "cli/families/load.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "cli/families/families.h"
#include "cli/terminal/console.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "instances/document/header.h"
#include "instances/documents.h"
#include "instances/json/errors.h"
#include "instances/json/value.h"
#include "instances/strategy/configuration.h"

namespace stowage {
namespace {

// The bytes of `path` and their document head.
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
    // This error is common for users who pass a list of lengths or a table.
    const auto first = static_cast<unsigned char>(bytes->empty() ? '\0' : bytes->front());
    if (std::isdigit(first) != 0) {
      errors.front().message +=
          "; a list of lengths becomes an instance with stowage convert LIST INSTANCE";
    } else if (std::isalpha(first) != 0 && bytes->find(',') < bytes->find('\n')) {
      errors.front().message += "; a table becomes an instance with stowage convert TABLE INSTANCE";
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

template <class T>
Loaded<T> loaded(const std::string& path, Result<T> result) {
  if (!result) return {std::nullopt, errors_in(path, result.errors())};
  return {*std::move(result), {}};
}

Loaded<Document> load_plan_document(const std::string& path) {
  return load_document(path, {"stowage/plan", "stowage/outcome"});
}

// Returns the path of an instance and of the files that it names, relative to it. No output may
// overwrite these files.
std::vector<std::string> files_of(const std::string& path, const std::string& bytes) {
  std::vector<std::string> files = {path};
  if (bytes.find("\"file\"") == std::string::npos) return files;  // most instances name no file
  ErrorList errors;
  const std::optional<JsonValue> document = parse_json(bytes, errors);
  if (!document) return files;
  for (const char* key : {"lengths", "cost", "loss_tokens"}) {
    const JsonValue* const named = document->find(key);
    const JsonValue* const file = named == nullptr ? nullptr : named->find("file");
    if (file == nullptr || file->string() == nullptr) continue;
    files.push_back(directory_of(path) + '/' + *file->string());
  }
  return files;
}

// If the instance is null because it was refused, partial plans are not completed.
Loaded<Plan> plan_in(const std::string& path, const Loaded<Document>& document,
                     const Instance* instance) {
  if (!document.value) return {std::nullopt, document.errors};
  const std::string& bytes = document.value->bytes;
  return loaded(path, instance == nullptr ? read_plan(bytes) : read_plan(bytes, *instance));
}

Loaded<std::optional<Certificate>> certificate_in(const std::string& path,
                                                  const Document& document) {
  using Found = std::optional<Certificate>;
  Loaded<Found> found = {Found(), {}};
  if (document.head.format != "stowage/outcome") return found;
  // read_head() has refused all other problems.
  Families::with_name(document.head.problem, [&](auto family) {
    auto own = family.read_certificate(document.bytes);
    if (!own) {
      found = {std::nullopt, errors_in(path, own.errors())};
    } else {
      found.value = Found(*std::move(own));
    }
  });
  return found;
}

std::optional<CliError> twice_stdin(const std::string& instance_path,
                                    const std::string& plan_path) {
  if (instance_path != "-" || plan_path != "-") return std::nullopt;
  return CliError{.error = {kUsage, "PLAN", "stdin is the instance already"}};
}

Loaded<InstanceAndPlan> both_of(Loaded<Instance> instance, const std::string& plan_path,
                                const Loaded<Document>& document) {
  Loaded<Plan> plan = plan_in(plan_path, document, instance.value ? &*instance.value : nullptr);
  std::vector<CliError> errors = std::move(instance.errors);
  errors.insert(errors.end(), plan.errors.begin(), plan.errors.end());
  if (!instance.value || !plan.value) return {std::nullopt, std::move(errors)};
  Loaded<std::optional<Certificate>> certificate = certificate_in(plan_path, *document.value);
  if (!certificate.value) return {std::nullopt, std::move(certificate.errors)};
  auto claims = read_outcome_claims(document.value->bytes, *instance.value);
  if (!claims) return {std::nullopt, errors_in(plan_path, claims.errors())};
  std::vector<std::string> files = std::move(instance.files);
  files.push_back(plan_path);
  return {InstanceAndPlan{*std::move(instance.value), *std::move(plan.value),
                          *std::move(certificate.value), *std::move(claims), document.value->bytes},
          {},
          std::move(files)};
}

// Returns whether the document is an outcome that claims infeasibility and contains no plan.
bool says_infeasible(const std::string& bytes) {
  ErrorList errors;
  const std::optional<JsonValue> head =
      parse_json_head(bytes, {"format", "status", "plan"}, errors);
  if (!head) return false;
  const auto says = [&](std::string_view key, std::string_view text) {
    const JsonValue* value = head->find(key);
    return value != nullptr && value->string() != nullptr && *value->string() == text;
  };
  const JsonValue* plan = head->find("plan");
  return says("format", "stowage/outcome") && says("status", "infeasible") &&
         (plan == nullptr || plan->is_null());
}

}  // namespace

Loaded<Instance> load_instance(const std::string& path) {
  Loaded<Document> document = load_document(path, {"stowage/instance"});
  if (!document.value) return {std::nullopt, std::move(document.errors)};
  auto instance = loaded(path, read_instance(document.value->bytes, directory_of(path)));
  instance.files = files_of(path, document.value->bytes);
  return instance;
}

Loaded<Plan> load_plan(const std::string& path, const Instance& instance) {
  return plan_in(path, load_plan_document(path), &instance);
}

Loaded<InstanceAndPlan> load_both(const std::string& instance_path, const std::string& plan_path) {
  if (auto error = twice_stdin(instance_path, plan_path)) return {std::nullopt, {*error}};
  Loaded<Instance> instance = load_instance(instance_path);
  return both_of(std::move(instance), plan_path, load_plan_document(plan_path));
}

Loaded<InstanceAndPlan> load_beside(const Instance& instance, const std::string& plan_path) {
  const Loaded<Document> document = load_plan_document(plan_path);
  Loaded<InstanceAndPlan> both = both_of({instance, {}}, plan_path, document);
  if (!both.value) return both;
  const std::string& hash = plan_hash(both.value->plan);
  if (hash.empty() || hash == hash_of(instance)) return both;
  const InputError error{code::kProblem,
                         both.value->claims ? "/plan/instance_hash" : "/instance_hash",
                         "must be \"" + hash_of(instance) + "\", the instance's, is \"" + hash +
                             "\": give a plan of this instance"};
  return {std::nullopt, errors_in(plan_path, {error})};
}

Loaded<InstanceAndPlan> with_stated(Loaded<Instance> instance, const std::string& instance_path,
                                    const std::string& flag, const std::string& stated) {
  if (!instance.value) return {std::nullopt, std::move(instance.errors)};
  if (auto error = not_of(*instance.value, "strategy")) {
    return {std::nullopt, errors_in(instance_path, {*error})};
  }
  Result<StrategyPlan> plan =
      read_configuration(stated, std::get<StrategyInstance>(*instance.value));
  if (!plan) {
    std::vector<InputError> errors = plan.errors();
    for (InputError& error : errors) error.pointer = flag + ' ' + error.pointer;
    return {std::nullopt, errors_in("", errors)};
  }
  return {InstanceAndPlan{.instance = *std::move(instance.value), .plan = *std::move(plan)},
          {},
          std::move(instance.files)};
}

bool allow_stated(InstanceAndPlan& both) {
  auto* const instance = std::get_if<StrategyInstance>(&both.instance);
  if (instance == nullptr) return false;
  auto& plan = std::get<StrategyPlan>(both.plan);
  StrategyInstance allowing = with_options_of(*instance, plan);
  if (!plan.bound_by.empty() || allowing == *instance) return false;
  *instance = std::move(allowing);
  plan.instance_hash = instance_hash(*instance);
  return true;
}

Loaded<Answer> load_answer(const std::string& instance_path, const std::string& plan_path) {
  if (auto error = twice_stdin(instance_path, plan_path)) return {std::nullopt, {*error}};
  Loaded<Instance> instance = load_instance(instance_path);
  const Loaded<Document> document = load_plan_document(plan_path);
  if (!instance.value || !document.value || !says_infeasible(document.value->bytes)) {
    Loaded<InstanceAndPlan> both = both_of(std::move(instance), plan_path, document);
    if (!both.value) return {std::nullopt, std::move(both.errors)};
    return {Answer(*std::move(both.value)), {}, std::move(both.files)};
  }
  if (auto error = not_of(*instance.value, document.value->head.problem)) {
    error->message = "must be that of the instance, is \"" + document.value->head.problem + '"';
    return {std::nullopt, errors_in(plan_path, {*error})};
  }
  Loaded<std::optional<Certificate>> certificate = certificate_in(plan_path, *document.value);
  if (!certificate.value) return {std::nullopt, std::move(certificate.errors)};
  auto claims = read_outcome_claims(document.value->bytes, *instance.value);
  if (!claims) return {std::nullopt, errors_in(plan_path, claims.errors())};
  return {Answer(InfeasibleAnswer{*std::move(instance.value), *std::move(certificate.value),
                                  **std::move(claims)}),
          {}};
}

std::optional<InputError> not_of(const Instance& instance, std::string_view problem) {
  if (family_name(instance) == problem) return std::nullopt;
  return InputError{code::kProblem, "/problem",
                    "must be \"" + std::string(problem) + "\" for this command, is \"" +
                        std::string(family_name(instance)) + '"'};
}

}  // namespace stowage
