// stowage render: a plan as a picture, or one or two plans as a page with pictures.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/answers/outcome_json.h"
#include "cli/answers/page/comparison.h"
#include "cli/answers/page/drawn_plan.h"
#include "cli/answers/page/report_page.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/families/outcome/check_outcome.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/suggest.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "instances/families.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

class RenderCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "render",
            .arguments = "INSTANCE PLAN -o FILE.{svg,html}",
            .summary = "Draw a plan as an SVG picture, or report on it in an HTML page",
            .examples = {"stowage render instance.json outcome.json -o plan.svg",
                         "stowage render instance.json outcome.json -o report.html",
                         "stowage render instance.json outcome.json --against plan.json -o "
                         "both.html"}};
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
    flags.text("--against", against_path_, "OTHER",
               "Another plan or outcome of INSTANCE: a page shows both side by side");
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (auto error = check_flags()) return console.refuse(*error);
    Loaded<InstanceAndPlan> both = load_both(instance_path_, plan_path_);
    if (!both.value) return console.refuse(both.errors);
    std::vector<std::string> inputs = both.files;
    Loaded<DrawnPlan> own = with_search(*std::move(both.value), plan_path_);
    if (!own.value) return console.refuse(own.errors);
    const Instance& instance = own.value->both.instance;
    std::optional<Comparison> comparison;
    if (!comparison_path_.empty()) {
      Result<std::string> text = read_file(comparison_path_);
      if (!text) return console.refuse(text.errors().front());
      Result<Comparison> read = read_comparison(*text, instance);
      if (!read) return console.refuse(errors_in(comparison_path_, read.errors()));
      comparison = *std::move(read);
    }
    std::optional<DrawnPlan> other;
    if (!against_path_.empty()) {
      Loaded<InstanceAndPlan> beside = load_beside(instance, against_path_);
      if (!beside.value) return console.refuse(beside.errors);
      Loaded<DrawnPlan> its = with_search(*std::move(beside.value), against_path_);
      if (!its.value) return console.refuse(its.errors);
      other = *std::move(its.value);
    }
    inputs.insert(inputs.end(), {comparison_path_, against_path_});
    if (auto error = check_output("--output", output_, inputs)) return console.refuse(*error);

    console.info(instance_line(instance));
    // Every plan is verified before it is drawn, and no flag disables this.
    own.value->judgement = judge(own.value->both);
    if (!own.value->judgement.violations.empty()) {
      return refuse_plan(console, *own.value, plan_path_);
    }
    if (!other) return draw_one(console, *own.value, std::move(comparison));
    other->judgement = judge(other->both);
    if (!other->judgement.violations.empty()) return refuse_plan(console, *other, against_path_);
    return draw_both(console, *own.value, *other, std::move(comparison));
  }

 private:
  bool page() const { return output_.ends_with(".html"); }

  bool wanted(std::string_view part) const {
    return show_.empty() || std::ranges::find(show_, part) != show_.end();
  }

  std::optional<InputError> check_flags() const {
    if (!page() && !output_.ends_with(".svg")) {
      return InputError{kUsage, "--output", "must end in .svg or .html, is '" + output_ + '\''};
    }
    for (const std::string& part : show_) {
      if (std::ranges::find(kPlanParts, part) != kPlanParts.end()) continue;
      const std::vector<std::string> names(kPlanParts.begin(), kPlanParts.end());
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
    if (!against_path_.empty() && !page()) {
      return InputError{kUsage, "--against",
                        "has no effect on a picture: two plans side by side are a page; end "
                        "--output in .html"};
    }
    if (against_path_ == "-") return InputError{kUsage, "--against", "must be a file"};
    return std::nullopt;
  }

  static Loaded<DrawnPlan> with_search(InstanceAndPlan both, const std::string& path) {
    auto search = read_search_record(both.plan_document, objective_unit(both.instance));
    if (!search) return {std::nullopt, errors_in(path, search.errors())};
    return {DrawnPlan{.both = std::move(both), .judgement = {}, .search = *std::move(search)}, {}};
  }

  static ExitCode refuse_plan(Console& console, const DrawnPlan& plan, const std::string& path) {
    for (const Violation& violation : plan.judgement.violations) {
      console.finding("violation " + to_string(violation));
    }
    console.error(path +
                  ": the plan is invalid and was not drawn: give a plan that stowage verify " +
                  "accepts");
    JsonWriter json;
    begin_answer(json, plan.both.instance, ExitCode::refused);
    json.text("refused", path);
    write_violations(json, plan.judgement.violations);
    json.end_object();
    return console.answer(json.take(), ExitCode::refused);
  }

  static void begin_answer(JsonWriter& json, const Instance& instance, ExitCode code) {
    json.begin_object();
    write_head(json, "stowage/picture", family_name(instance), instance_name(instance));
    json.integer("exit_code", to_int(code));
  }

  static std::string title_of(const Instance& instance) {
    const std::string& name = instance_name(instance);
    return name.empty() ? std::string(family_name(instance)) + " plan" : name;
  }

  ExitCode draw_one(Console& console, const DrawnPlan& plan,
                    std::optional<Comparison> comparison) const {
    const Instance& instance = plan.both.instance;
    std::vector<Picture> drawn;
    for (const std::string_view part : kPlanParts) {
      if (!wanted(part)) continue;
      if (auto picture = part_picture(plan, part)) drawn.push_back(*std::move(picture));
    }
    if (drawn.empty() && !page()) {
      return console.refuse({kUsage, "--show",
                             "must name a picture that there is: lengths are those of sequences, "
                             "an exchange that of cost.exchange, a search is in an outcome"});
    }
    const std::size_t count = drawn.size();
    const std::string bytes =
        page() ? report_page({.title = title_of(instance),
                              .subtitle = "A plan of the " + std::string(family_name(instance)) +
                                          " problem, verified before it was drawn.",
                              .facts = facts_of(plan),
                              .pictures = std::move(drawn),
                              .comparison = std::move(comparison),
                              .unit = objective_unit(instance)})
               : svg_document(drawn, title_of(instance));
    return write(console, plan, nullptr, bytes, count);
  }

  ExitCode draw_both(Console& console, const DrawnPlan& own, const DrawnPlan& other,
                     std::optional<Comparison> comparison) const {
    const Instance& instance = own.both.instance;
    Report report{.title = title_of(instance),
                  .subtitle = "Two plans of one " + std::string(family_name(instance)) +
                              " instance, both verified before they were drawn. A difference is "
                              "the second plan's amount minus the first one's. Each picture has "
                              "axes and colours of its own.",
                  .against = side_by_side(own, other, names_of_plans()),
                  .comparison = std::move(comparison),
                  .unit = objective_unit(instance)};
    std::size_t count = 0;
    for (const std::string_view part : kPlanParts) {
      if (!wanted(part)) continue;
      PicturePair pair = {part_picture(own, part), part_picture(other, part)};
      count += (pair[0] ? 1U : 0U) + (pair[1] ? 1U : 0U);
      // A picture of the instance is the same for both plans, and is shown once.
      if (pair[0] && pair[1] && pair[0]->elements == pair[1]->elements) {
        report.pictures.push_back(*std::move(pair[0]));
        --count;
      } else if (pair[0] || pair[1]) {
        report.against->pictures.push_back(std::move(pair));
      }
    }
    return write(console, own, &other, report_page(report), count);
  }

  // Returns the names of both files; their paths if the names are equal.
  std::array<std::string, 2> names_of_plans() const {
    const std::array<std::string, 2> names = {
        plan_path_ == "-" ? "stdin" : std::filesystem::path(plan_path_).filename().string(),
        std::filesystem::path(against_path_).filename().string()};
    return names[0] == names[1] ? std::array{plan_path_, against_path_} : names;
  }

  ExitCode write(Console& console, const DrawnPlan& plan, const DrawnPlan* other,
                 const std::string& bytes, std::size_t pictures) const {
    if (auto error = write_file(output_, bytes)) return console.refuse(*error);
    const auto count = static_cast<std::int64_t>(pictures);
    const auto size = static_cast<std::int64_t>(bytes.size());
    console.verdict("drawn", "  " + grouped(count) + (count == 1 ? " picture  " : " pictures  ") +
                                 grouped(size) + " bytes  -> " + output_);
    JsonWriter json;
    begin_answer(json, plan.both.instance, ExitCode::ok);
    json.boolean("proven", plan.judgement.is_proven());
    if (other != nullptr) json.boolean("against_proven", other->judgement.is_proven());
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
  std::string against_path_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_render_command() { return std::make_unique<RenderCommand>(); }

}  // namespace stowage
