// stowage run: executes the packed batches of a plan and compares them with every sequence alone.
// It also executes the buffers of a layout or order plan in one arena (run_layout.h, run_order.h),
// and a strategy on its ranks (run_strategy.h).
#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/answers/execution/json.h"
#include "cli/answers/execution/text.h"
#include "cli/commands/run/refused.h"
#include "cli/commands/run/run_layout.h"
#include "cli/commands/run/run_order.h"
#include "cli/commands/run/run_strategy.h"
#include "cli/families/each.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/status_line.h"
#include "instances/families.h"
#include "instances/numeric/numbers.h"
#include "instances/verify.h"
#include "kernels/attention/simd/isa.h"
#include "kernels/ranks/mpi_ranks.h"
#include "kernels/run/executor.h"
#include "kernels/run/ranks/process_pool.h"
#include "kernels/strategy/strategy_processes.h"

namespace stowage {
namespace {

using kernels::ExecutionProgress;
using kernels::ExecutionReport;

class RunCommand : public Command {
 public:
  CommandText text() const override {
    return {
        .name = "run",
        .arguments = "INSTANCE PLAN",
        .summary =
            "Execute a plan on this CPU and check its results, or the memory of a layout or order",
        .examples = {"stowage run instance.json plan.json",
                     "stowage run layout.json layout-plan.json",
                     "stowage run instance.json plan.json --exchange zigzag --seed 7 --timeless"}};
  }

  void declare(Flags& flags) override {
    flags.positional("INSTANCE", instance_path_, "The instance, - for stdin");
    flags.positional("PLAN", plan_path_, "The plan, or an outcome with a plan in it, - for stdin");
    flags.integer("--scale", scale_, "N", 1, kMaxExact,
                  "Lengths, or sizes of buffers, are divided by it; default the smallest within "
                  "--work, or 64 MiB of arena");
    flags.number(
        "--work", work_gflop_, "GFLOP", 0.001, 1e6,
        "Not for layouts and orders: work to stay within when --scale is not given; default 10");
    flags.integer("--max-ranks", max_ranks_, "N", 1, 1024,
                  "Not for layouts and orders: most ranks of a batch, whatever its degree, or of a "
                  "strategy, which has all its ranks or is not run; default 64. Ranks are threads, "
                  "or the processes of mpirun");
    flags.choice(
        "--exchange", exchange_, {kernels::kExchangeNames.begin(), kernels::kExchangeNames.end()},
        "Of scatter and assign steps: how the ranks of a batch share attention; default ulysses");
    flags.integer("--chunk-size", chunk_size_, "N", 1, kMaxExact,
                  "chunked: tokens of a chunk after scaling; default a quarter of the batch's "
                  "longest sequence");
    flags.integer("--retained", retained_, "K", 1, kMaxExact,
                  "chunked: chunks of a sequence that keep their activations; default 1");
    flags.integer(
        "--threads", threads_, "N", 1, kMaxThreads,
        "Of scatter and assign steps: threads of each rank, and of the reference; default "
        "1 for a rank, and all cores for the reference. The results have the same bits");
    flags.integer(
        "--repeats", repeats_, "N", 1, 1000,
        "Timed rounds over the batches and packs like them, whose median counts, default 7; or "
        "timed runs of a strategy's step, whose best counts, default 1");
    flags.text("--layout", layout_path_, "LAYOUT",
               "Of an order: the offsets of its tensors, from `stowage solve --layout`; default "
               "they are laid out here");
    flags.number("-t,--time-limit", time_limit_s_, "SEC", 0, 1e9,
                 "Stop between batches, operators of an order, or layers of a strategy, after it; "
                 "the run is then incomplete. Default none");
    flags.integer("--seed", seed_, "N", 0, kMaxExact,
                  "Seed of tokens, weights and patterns; default 0");
    output_flags_.declare(flags, true);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (const std::string problem = kernels::isa_problem(); !problem.empty()) {
      return console.refuse({kUsage, "STOWAGE_ISA", problem});
    }
    if (scale_ && work_gflop_) {
      return console.refuse({kUsage, "--work", "has no effect with --scale"});
    }
    for (const auto& [flag, given] :
         {std::pair{"--chunk-size", chunk_size_}, std::pair{"--retained", retained_}}) {
      if (given && exchange_ != "chunked") {
        return console.refuse({kUsage, flag, "has an effect with --exchange chunked alone"});
      }
    }
    if (kernels::mpi_launched()) return run_as_process(console);
    return load_and_run(console, nullptr);
  }

 private:
  // Runs under mpirun: the first process executes the command and uses the other processes as its
  // ranks.
  ExitCode run_as_process(Console& console) const {
    if (!kernels::mpi_built_in()) {
      return console.refuse({kUsage, "mpirun",
                             "this build has no MPI, so every process would do the same: build it "
                             "with WITH_MPI=ON, or run without mpirun, with threads as ranks"});
    }
    kernels::MpiProcess process;
    kernels::Communicator& world = process.world();
    try {
      if (world.rank() == 0) {
        kernels::ProcessPool pool(world);
        return load_and_run(console, &pool);
      }
      kernels::serve(world, kernels::run_share, kernels::take_part_in_step);
      return ExitCode::ok;
    } catch (const std::exception&
                 error) {  // the other processes wait for this process, so all must be ended
      console.refuse({kInternal, "rank " + std::to_string(world.rank()), error.what()},
                     ExitCode::internal);
      process.abort(to_int(ExitCode::internal));
    }
  }

  // If `pool` is null, ranks are threads of this process.
  ExitCode load_and_run(Console& console, kernels::ProcessPool* pool) const {
    const Loaded<InstanceAndPlan> both = load_both(instance_path_, plan_path_);
    if (!both.value) return console.refuse(both.errors);
    const Instance& instance = both.value->instance;
    const Plan& plan = both.value->plan;
    const auto* layout = std::get_if<LayoutInstance>(&instance);
    const auto* graph = std::get_if<OrderInstance>(&instance);
    if (layout != nullptr || graph != nullptr) {
      const std::string what = layout != nullptr ? "a layout" : "an order";
      if (auto error = flag_without_effect(what)) return console.refuse(*error);
      if (pool != nullptr) {
        return console.refuse({kUsage, "mpirun", what + " is of one rank: run it alone"});
      }
    }
    const auto* strategy = std::get_if<StrategyInstance>(&instance);
    if (strategy != nullptr && !exchange_.empty()) {
      return console.refuse({kUsage, "--exchange", "has no effect on a strategy"});
    }
    if (strategy != nullptr && threads_) {
      return console.refuse({kUsage, "--threads", "has no effect on a strategy"});
    }
    if (graph == nullptr && !layout_path_.empty()) {
      return console.refuse({kUsage, "--layout", "has an effect on orders alone"});
    }
    // Every plan is verified before it is executed, and no flag disables this.
    const std::vector<Violation> violations = verify(instance, plan);
    console.info(instance_line(instance));
    if (!violations.empty()) return refuse_run(console, instance, "plan", violations);
    const InterruptScope interrupt;
    Budget::Limits limits{.interrupt = &interrupt.flag()};
    if (time_limit_s_) limits.time_limit_s = *time_limit_s_;
    Budget budget(limits);
    const auto seed = static_cast<std::uint64_t>(seed_.value_or(0));
    if (layout != nullptr) {
      return run_layout(console, *layout, std::get<LayoutPlan>(plan),
                        {.instance_path = instance_path_, .scale = scale_, .seed = seed}, budget);
    }
    if (graph != nullptr) {
      return run_order(console, *graph, std::get<OrderPlan>(plan),
                       {.instance_path = instance_path_,
                        .layout_path = layout_path_,
                        .scale = scale_,
                        .seed = seed},
                       budget);
    }
    if (strategy != nullptr) {
      return run_strategy(console, *strategy, std::get<StrategyPlan>(plan),
                          {.scale = scale_,
                           .work_gflop = work_gflop_,
                           .max_ranks = max_ranks_,
                           .repeats = repeats_,
                           .seed = seed,
                           .pool = pool},
                          budget);
    }
    return execute(console, instance, plan, pool, budget);
  }

  // Returns an error for a flag that has no effect on a layout or an order.
  std::optional<InputError> flag_without_effect(const std::string& what) const {
    for (const auto& [flag, given] :
         {std::pair{"--work", work_gflop_.has_value()},
          std::pair{"--max-ranks", max_ranks_.has_value()},
          std::pair{"--exchange", !exchange_.empty()}, std::pair{"--threads", threads_.has_value()},
          std::pair{"--repeats", repeats_.has_value()}}) {
      if (given) return InputError{kUsage, flag, "has no effect on " + what};
    }
    return std::nullopt;
  }

  ExitCode execute(Console& console, const Instance& instance, const Plan& plan,
                   kernels::RankPool* pool, Budget& budget) const {
    kernels::ExecuteOptions options;
    options.scale = scale_.value_or(0);
    if (work_gflop_) options.max_work_flop = *work_gflop_ * 1e9;
    options.seed = static_cast<std::uint64_t>(seed_.value_or(0));
    if (max_ranks_) options.max_ranks = static_cast<int>(*max_ranks_);
    options.pool = pool;
    if (threads_) options.threads = static_cast<int>(*threads_);
    options.reference_threads = static_cast<int>(threads_.value_or(usable_cores()));
    if (!exchange_.empty()) options.exchange.kind = *kernels::exchange_kind(exchange_);
    options.exchange.chunk_size = chunk_size_.value_or(0);
    if (retained_) options.exchange.retained = *retained_;
    const std::int64_t rounds = repeats_.value_or(kernels::BatchTimesOptions().rounds);
    options.rounds = console.settings.timeless ? 0 : static_cast<int>(rounds);
    if (repeats_) options.offload.repeats = static_cast<int>(*repeats_);

    const std::optional<kernels::PackedPlan> batches = packed(instance, plan);
    if (!batches) throw std::logic_error("a family is neither run in batches nor in its own way");
    StatusLine status(console);
    const ExecutionReport report = kernels::execute(
        *batches, options,
        [&status](const ExecutionProgress& progress) {
          status.tell(progress.timings > 0 ? "timing    " + grouped(progress.timed) + " of " +
                                                 grouped(progress.timings)
                                           : "batch     " + grouped(progress.batches_done) +
                                                 " of " + grouped(progress.batches));
        },
        &budget);
    const ExitCode code = exit_code(report);
    tell_execution(console, report);
    return console.answer(
        execution_json(instance, report, options.exchange.kind, console.settings.timeless, code),
        code);
  }

  static std::optional<kernels::PackedPlan> packed(const Instance& instance, const Plan& plan) {
    return visit_both(
        [](const auto& own, const auto& its) -> std::optional<kernels::PackedPlan> {
          if constexpr (requires { packed_plan(own, its); }) {
            return packed_plan(own, its);
          }
          return std::nullopt;
        },
        instance, plan);
  }

  std::string instance_path_;
  std::string plan_path_;
  std::string layout_path_;
  std::optional<std::int64_t> scale_;
  std::optional<std::int64_t> max_ranks_;
  std::optional<std::int64_t> repeats_;
  std::optional<std::int64_t> threads_;
  std::string exchange_;  // empty: not given
  std::optional<std::int64_t> chunk_size_;
  std::optional<std::int64_t> retained_;
  std::optional<std::int64_t> seed_;
  std::optional<double> work_gflop_;
  std::optional<double> time_limit_s_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_run_command() { return std::make_unique<RunCommand>(); }

std::string_view missing_command(std::string_view /*name*/) { return {}; }

}  // namespace stowage
