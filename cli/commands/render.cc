// stowage render: a plan as a picture, or as a page with pictures.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/answers/outcome_json.h"
#include "cli/answers/page/comparison.h"
#include "cli/answers/page/report_page.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/families/outcome/answer_reader.h"
#include "cli/families/outcome/check_outcome.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/suggest.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "instances/families.h"
#include "instances/numeric/numbers.h"
#include "instances/pictures/progress_curve.h"
#include "solvers/outcome.h"

namespace stowage {
namespace {

// The members of a stowage/outcome about the search for its plan.
struct SearchRecord {
  std::string status;
  std::string stopped_by;
  std::string method;
  std::string found_by;
  ProgressHistory progress;
};

// Returns nullopt for a stowage/plan, which has no record of a search. `unit` is the unit of the
// objective. Errors: types and ranges; missing members stay empty.
Result<std::optional<SearchRecord>> read_search_record(std::string_view text, const Unit& unit) {
  ErrorList errors;
  const std::optional<JsonValue> document = parse_json(text, errors);
  if (!document) return std::move(errors).take();
  const JsonPath root;
  const AnswerReader outcome(*document, root, errors);
  if (outcome.text("format") != "stowage/outcome") return std::optional<SearchRecord>();
  SearchRecord record{.status = outcome.text("status"),
                      .stopped_by = outcome.text("stopped_by"),
                      .method = outcome.text("method"),
                      .found_by = outcome.text("found_by")};
  record.progress.end_seconds = outcome.number("seconds");
  const std::string in_unit = '_' + std::string(unit.name);
  outcome.each("improvements", [&](const AnswerReader& step) {
    record.progress.points.push_back({.seconds = step.number("seconds"),
                                      .bound = step.number("bound" + in_unit).value_or(0),
                                      .objective = step.number("objective" + in_unit),
                                      .by = step.text("by")});
  });
  if (!errors.empty()) return std::move(errors).take();
  return std::optional(std::move(record));
}

class RenderCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "render",
            .arguments = "INSTANCE PLAN -o FILE.{svg,html}",
            .summary = "Draw a plan as an SVG picture, or report on it in an HTML page",
            .examples = {"stowage render instance.json outcome.json -o plan.svg",
                         "stowage render instance.json outcome.json -o report.html",
                         "stowage render layout.json layout-plan.json -o map.svg --show plan"}};
  }

  void declare(Flags& flags) override {
    flags.positional("INSTANCE", instance_path_, "The instance, - for stdin");
    flags.positional("PLAN", plan_path_,
                     "The plan, or an outcome, whose search is drawn as well; - for stdin");
    flags.text("-o,--output", output_, "FILE", "A picture if it ends in .svg, a page if in .html");
    flags.list("--show", show_, "A,B,...",
               "Some of plan, lengths, exchange, search; default all that there are");
    flags.text("--comparison", comparison_path_, "FILE",
               "What stowage compare printed, for a page's table of methods");
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (auto error = check_flags()) return console.refuse(*error);
    const Loaded<InstanceAndPlan> both = load_both(instance_path_, plan_path_);
    if (!both.value) return console.refuse(both.errors);
    const Instance& instance = both.value->instance;
    const Unit unit = objective_unit(instance);
    auto search = read_search_record(both.value->plan_document, unit);
    if (!search) return console.refuse(errors_in(plan_path_, search.errors()));
    std::optional<Comparison> comparison;
    if (!comparison_path_.empty()) {
      Result<std::string> text = read_file(comparison_path_);
      if (!text) return console.refuse(text.errors().front());
      Result<Comparison> read = read_comparison(*text, instance);
      if (!read) return console.refuse(errors_in(comparison_path_, read.errors()));
      comparison = *std::move(read);
    }
    std::vector<std::string> inputs = both.files;
    inputs.push_back(comparison_path_);
    if (auto error = check_output("--output", output_, inputs)) return console.refuse(*error);

    console.info(instance_line(instance));
    // Every plan is verified before it is drawn, and no flag disables this.
    const CheckedOutcome judgement = judge(*both.value);
    if (!judgement.violations.empty()) return refuse_plan(console, instance, judgement);
    return draw(console, *both.value, judgement, *search, std::move(comparison));
  }

 private:
  static constexpr std::array<std::string_view, 4> kParts = {"plan", "lengths", "exchange",
                                                             "search"};

  bool page() const { return output_.ends_with(".html"); }

  bool wanted(std::string_view part) const {
    return show_.empty() || std::ranges::find(show_, part) != show_.end();
  }

  std::optional<InputError> check_flags() const {
    if (!page() && !output_.ends_with(".svg")) {
      return InputError{kUsage, "--output", "must end in .svg or .html, is '" + output_ + '\''};
    }
    for (const std::string& part : show_) {
      if (std::ranges::find(kParts, part) != kParts.end()) continue;
      const std::vector<std::string> names(kParts.begin(), kParts.end());
      return InputError{kUsage, "--show",
                        "unknown value '" + part + "' (choose " + comma_list(names) + ')' +
                            suggestion(part, names)};
    }
    if (!comparison_path_.empty() && !page()) {
      return InputError{kUsage, "--comparison", "has no effect on a picture; write a page (.html)"};
    }
    if (comparison_path_ == "-") {
      return InputError{kUsage, "--comparison", "must be a file"};
    }
    return std::nullopt;
  }

  static ExitCode refuse_plan(Console& console, const Instance& instance,
                              const CheckedOutcome& judgement) {
    for (const Violation& violation : judgement.violations) {
      console.finding("violation " + to_string(violation));
    }
    console.error("the plan is invalid and was not drawn");
    JsonWriter json;
    begin_answer(json, instance, ExitCode::refused);
    write_violations(json, judgement.violations);
    json.end_object();
    return console.answer(json.take(), ExitCode::refused);
  }

  static void begin_answer(JsonWriter& json, const Instance& instance, ExitCode code) {
    json.begin_object();
    write_head(json, "stowage/picture", family_name(instance), instance_name(instance));
    json.integer("exit_code", to_int(code));
  }

  std::vector<Picture> pictures(const InstanceAndPlan& both, const CheckedOutcome& judgement,
                                const std::optional<SearchRecord>& search) const {
    std::vector<Picture> pictures;
    if (wanted("plan")) {
      pictures.push_back(plan_picture(both.instance, both.plan, judgement.shown));
    }
    if (wanted("lengths")) {
      if (auto lengths = lengths_picture(both.instance, both.plan)) {
        pictures.push_back(*std::move(lengths));
      }
    }
    if (wanted("exchange")) {
      if (auto exchange = exchange_picture(both.instance)) {
        pictures.push_back(*std::move(exchange));
      }
    }
    if (wanted("search") && search) {
      const bool integral = objective_unit(both.instance).integral;
      pictures.push_back(
          progress_curve(search->progress, integral ? Quantity::bytes : Quantity::time_ms));
    }
    return pictures;
  }

  static std::vector<Fact> facts(const InstanceAndPlan& both, const CheckedOutcome& judgement,
                                 const std::optional<SearchRecord>& search) {
    const Unit unit = objective_unit(both.instance);
    const double objective = plan_objective(both.plan);
    std::vector<Fact> facts = {{"instance", instance_size(both.instance)},
                               {"objective", with_unit(objective, unit) + ", verified"}};
    if (const auto& proven = judgement.shown.proven) {
      facts.push_back({"proven bound", with_unit(proven->value, unit) + " (" + proven->name +
                                           "), computed again for this page"});
      facts.push_back({"gap", percent_text(relative_gap(objective, proven->value))});
    }
    if (const auto& claimed = judgement.shown.claimed) {
      facts.push_back(
          {"bound as claimed", with_unit(claimed->value, unit) + " (" + claimed->name +
                                   "), not proven: no certificate of it is at hand; gap " +
                                   percent_text(relative_gap(objective, claimed->value))});
    }
    for (auto& [label, text] : plan_facts(both.instance, both.plan)) {
      facts.push_back({std::move(label), std::move(text)});
    }
    if (search && !search->method.empty()) {
      facts.push_back({"search", "method " + search->method + ", plan by " + search->found_by +
                                     ", " + search->status +
                                     (judgement.is_proven() ? "" : " as claimed, not proven") +
                                     ", stopped by " + search->stopped_by});
    }
    return facts;
  }

  ExitCode draw(Console& console, const InstanceAndPlan& both, const CheckedOutcome& judgement,
                const std::optional<SearchRecord>& search, std::optional<Comparison> comparison) {
    const Instance& instance = both.instance;
    std::vector<Picture> drawn = pictures(both, judgement, search);
    if (drawn.empty() && !page()) {
      return console.refuse({kUsage, "--show",
                             "must name a picture that there is: lengths are those of sequences, "
                             "an exchange that of cost.exchange, a search is in an outcome"});
    }
    const auto count = static_cast<std::int64_t>(drawn.size());
    const std::string& name = instance_name(instance);
    const std::string title = name.empty() ? std::string(family_name(instance)) + " plan" : name;
    const std::string bytes =
        page() ? report_page({.title = title,
                              .subtitle = "A plan of the " + std::string(family_name(instance)) +
                                          " problem, verified before it was drawn.",
                              .facts = facts(both, judgement, search),
                              .pictures = std::move(drawn),
                              .comparison = std::move(comparison),
                              .unit = objective_unit(instance)})
               : svg_document(drawn, title);
    if (auto error = write_file(output_, bytes)) return console.refuse(*error);
    const auto size = static_cast<std::int64_t>(bytes.size());
    console.verdict("drawn", "  " + grouped(count) + (count == 1 ? " picture  " : " pictures  ") +
                                 grouped(size) + " bytes  -> " + output_);
    JsonWriter json;
    begin_answer(json, instance, ExitCode::ok);
    json.boolean("proven", judgement.is_proven());
    json.text("file", output_);
    json.integer("bytes", size);
    json.integer("pictures", count);
    json.end_object();
    return console.answer(json.take(), ExitCode::ok);
  }

  std::string instance_path_;
  std::string plan_path_;
  std::string output_;
  std::vector<std::string> show_;
  std::string comparison_path_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_render_command() { return std::make_unique<RenderCommand>(); }

}  // namespace stowage
