// stowage memory: compares the memory of a scatter plan's micro-batches, buffer by buffer, with the
// planner's token count; or checks the caps of an assign instance's schemes (row_caps.h).
#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "cli/commands/memory/remedy.h"
#include "cli/commands/memory/row_caps.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/flags/preset_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/status_line.h"
#include "cli/terminal/table.h"
#include "instances/assign/presets.h"
#include "instances/model/transformer.h"
#include "instances/numeric/numbers.h"
#include "instances/verify.h"
#include "solvers/memory/step_memory.h"

namespace stowage {
namespace {

constexpr std::size_t kListedGroups = 40;

const char* text_of(Fit fit) {
  return fit == Fit::yes ? "yes" : (fit == Fit::no ? "NO" : "unknown");
}

void write_fit(JsonWriter& json, Fit fit) {
  if (fit == Fit::unknown) {
    json.key("fits");
    json.null();
  } else {
    json.boolean("fits", fit == Fit::yes);
  }
}

class MemoryCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "memory",
            .arguments = "INSTANCE [PLAN]",
            .summary = "Say whether a scatter plan's buffers fit, or an assign instance's row caps",
            .examples = {"stowage memory instance.json plan.json --model gpt-7b --recompute full",
                         "stowage memory instance.json outcome.json --model llama-7b --recompute "
                         "full --gap 0.01",
                         "stowage memory assign.json"}};
  }

  void declare(Flags& flags) override {
    flags.positional("INSTANCE", instance_path_, "The instance, - for stdin");
    flags.positional(
        "PLAN", plan_path_,
        "Of a scatter instance: its plan, or an outcome with a plan in it, - for stdin", false);
    std::vector<std::string> models;
    for (const std::string_view model : transformer_names()) models.emplace_back(model);
    for (const std::string_view model : assign_preset_models()) {
      if (std::ranges::count(models, model) == 0) models.emplace_back(model);
    }
    flags.choice("--model", model_, models,
                 "Model that has the shape; default the one that the instance's name begins with");
    flags.choice("--recompute", recompute_, {"none", "selective", "full"},
                 "What the backward pass computes again; default none");
    flags.integer(
        "--logit-chunks", logit_chunks_, "N", 1, 1024,
        "Pieces that the logits are computed in; must divide the tokens of each rank; default 1");
    solve_flags_.declare(flags);
    output_flags_.declare(flags, true);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    const Result<SolveOptions> options = solve_flags_.options();
    if (!options) return console.refuse(options.errors().front());
    if (plan_path_.empty()) return without_plan(console);
    const Loaded<InstanceAndPlan> both = load_both(instance_path_, plan_path_);
    if (!both.value) return console.refuse(both.errors);
    const Instance& instance = both.value->instance;
    const Plan& plan = both.value->plan;
    if (std::holds_alternative<AssignInstance>(instance)) {
      return console.refuse({kUsage, "PLAN", "has no effect on an assign instance: leave it out"});
    }
    if (auto error = not_of(instance, "scatter")) {
      return console.refuse(errors_in(instance_path_, {*error}));
    }
    const auto& scatter = std::get<ScatterInstance>(instance);
    TransformerStep trace{.model = model_.empty() ? model_in(scatter.name) : model_,
                          .recompute = recompute_ == "full"        ? Recompute::full
                                       : recompute_ == "selective" ? Recompute::selective
                                                                   : Recompute::none,
                          .logit_chunks = static_cast<int>(logit_chunks_.value_or(1))};
    if (trace.model.empty()) {
      return console.refuse({kUsage, "--model",
                             "is needed: the instance's name, '" + scatter.name +
                                 "', begins with none of " + known_models()});
    }
    console.info("instance  scatter  " + scatter.name + "   " + instance_size(instance));
    const std::vector<Violation> violations = verify(instance, plan);
    if (!violations.empty()) {
      for (const Violation& violation : violations)
        console.finding("violation " + to_string(violation));
      return console.refuse(
          {kUsage, "PLAN", "the plan is invalid: " + to_string(violations.front())},
          ExitCode::refused);
    }
    const InterruptScope interrupt;
    Budget budget(solve_flags_.limits(interrupt.flag()));
    StatusLine status(console);
    const auto groups_of = [&](const TransformerStep& each, const SolveOptions& how) {
      return step_memory(
          scatter, std::get<ScatterPlan>(plan), each, how, budget,
          [&status](std::size_t done, std::size_t all) {
            status.tell("layout    " + std::to_string(done + 1) + " of " + std::to_string(all));
          });
    };
    const Result<std::vector<GroupMemory>> groups = groups_of(trace, *options);
    if (!groups) {
      const bool in_plan = groups.errors().front().pointer.starts_with("/micro_batches/");
      return console.refuse(in_plan ? errors_in(plan_path_, groups.errors())
                                    : as_flag_errors(groups.errors(), "--model"));
    }
    // Returns whether the plan fits with more recomputation. Only the method fast is used, which
    // always ends.
    const auto fit_of = [&](Recompute recompute) {
      if (budget.exhausted()) return Fit::unknown;
      SolveOptions quick = *options;
      quick.method = "fast";
      TransformerStep other = trace;
      other.recompute = recompute;
      const Result<std::vector<GroupMemory>> found = groups_of(other, quick);
      return found ? worst(*found) : Fit::unknown;
    };
    return answer(console, scatter, trace, *groups, fit_of);
  }

 private:
  ExitCode without_plan(Console& console) const {
    const Loaded<Instance> instance = load_instance(instance_path_);
    if (!instance.value) return console.refuse(instance.errors);
    const auto* assign = std::get_if<AssignInstance>(&*instance.value);
    if (assign == nullptr) {
      if (std::holds_alternative<LayoutInstance>(*instance.value)) {
        return console.refuse(
            {kUsage, "INSTANCE", "is a layout, whose memory solve, explain and render show"});
      }
      if (auto error = not_of(*instance.value, "scatter")) {
        return console.refuse(errors_in(instance_path_, {*error}));
      }
      return console.refuse({kUsage, "PLAN", "is needed for a scatter instance"});
    }
    for (const auto& [flag, given] : {std::pair{"--recompute", !recompute_.empty()},
                                      std::pair{"--logit-chunks", logit_chunks_.has_value()}}) {
      if (given) return console.refuse({kUsage, flag, "has no effect on an assign instance"});
    }
    console.info("instance  assign  " + assign->name + "   " + instance_size(*instance.value));
    return memory_of_schemes(console, *assign, model_);
  }

  static std::string known_models() {
    std::string known;
    for (const std::string_view model : transformer_names()) {
      known += (known.empty() ? "" : ", ") + std::string(model);
    }
    return known;
  }

  // Returns the model whose name is a prefix of the instance's name, or an empty string.
  static std::string model_in(const std::string& name) {
    for (const std::string_view model : transformer_names()) {
      if (name.starts_with(model)) return std::string(model);
    }
    return "";
  }

  static Fit worst(const std::vector<GroupMemory>& groups) {
    Fit fit = Fit::yes;
    for (const GroupMemory& group : groups) {
      if (group.fit == Fit::no) return Fit::no;
      if (group.fit == Fit::unknown) fit = Fit::unknown;
    }
    return fit;
  }

  ExitCode answer(Console& console, const ScatterInstance& instance, const TransformerStep& trace,
                  const std::vector<GroupMemory>& groups, const FitOf& fit_of) const {
    const Fit fit = worst(groups);
    const ExitCode code = fit == Fit::yes  ? ExitCode::ok
                          : fit == Fit::no ? ExitCode::refused
                                           : ExitCode::unknown;
    tell(console, trace, groups, fit);
    if (fit == Fit::no)
      console.info("remedy    " + memory_remedy(instance, trace.recompute, groups, fit_of));
    JsonWriter json;
    json.begin_object();
    write_head(json, "stowage/memory", "scatter", instance.name);
    json.integer("exit_code", to_int(code));
    json.text("model", trace.model);
    json.text("recompute", recompute_.empty() ? "none" : recompute_);
    json.integer("logit_chunks", trace.logit_chunks);
    write_fit(json, fit);
    json.key("groups");
    json.begin_array();
    for (const GroupMemory& group : groups) {
      json.begin_object(JsonWriter::Layout::line);
      json.integer("micro_batch", group.micro_batch);
      json.integer("group", group.group);
      json.integer("first_rank", group.first_rank);
      json.integer("degree", group.degree);
      json.integer("tokens_per_rank", group.tokens_per_rank);
      json.integer("peak_bytes", group.peak_bytes);
      json.integer("bound_bytes", group.bound_bytes);
      json.number("peak_mib", to_mib(group.peak_bytes));
      json.number("token_model_mib", group.token_model_mib);
      json.number("capacity_mib", group.capacity_mib);
      write_fit(json, group.fit);
      json.end_object();
    }
    json.end_array();
    json.end_object();
    return console.answer(json.take(), code);
  }

  static void tell(Console& console, const TransformerStep& trace,
                   const std::vector<GroupMemory>& groups, Fit fit) {
    Table table({{"micro-batch", Align::right},
                 {"group", Align::right},
                 {"degree", Align::right},
                 {"tokens per rank", Align::right},
                 {"planned peak MiB", Align::right},
                 {"token model MiB", Align::right},
                 {"capacity MiB", Align::right},
                 {"fits", Align::left}});
    for (std::size_t i = 0; i < std::min(groups.size(), kListedGroups); ++i) {
      const GroupMemory& g = groups[i];
      table.add({grouped(g.micro_batch), grouped(g.group), grouped(g.degree),
                 grouped(g.tokens_per_rank), ms_text(to_mib(g.peak_bytes)),
                 ms_text(g.token_model_mib), ms_text(g.capacity_mib), text_of(g.fit)});
    }
    if (console.settings.level >= LogLevel::info) {
      console.table(table);
      if (groups.size() > kListedGroups) {
        console.info("and " + grouped(static_cast<std::int64_t>(groups.size() - kListedGroups)) +
                     " more groups");
      }
    }
    const std::string verdict = fit == Fit::yes  ? "fits"
                                : fit == Fit::no ? "does not fit"
                                                 : "unknown";
    console.verdict(verdict,
                    "  model " + trace.model + "  " +
                        (groups.size() == 1
                             ? std::string("1 group is")
                             : grouped(static_cast<std::int64_t>(groups.size())) + " groups are") +
                        " the heaviest of a rank");
  }

  std::string instance_path_;
  std::string plan_path_;
  std::string model_;
  std::string recompute_;
  std::optional<std::int64_t> logit_chunks_;
  SolveFlags solve_flags_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_memory_command() { return std::make_unique<MemoryCommand>(); }

}  // namespace stowage
