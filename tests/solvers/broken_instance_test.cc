// Instances built by a program and not checked by a reader: solve() refuses those that a reader
// would refuse, with the same codes, and no public function crashes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "instances/check.h"
#include "instances/verify.h"
#include "solvers/plan_stream.h"
#include "solvers/solve.h"

namespace stowage::broken_instance_test {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

ScatterInstance scatter() {
  return {.name = "two",
          .cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}},
          .model = {.activation_mib_per_token = 1},
          .cost = {.linear_ms = 0.5},
          .lengths = {64, 80, 100}};
}

AssignInstance assign() {
  return {.name = "two",
          .devices = 2,
          .schemes = {{.name = "a", .linear_ms = 1, .max_tokens = 80},
                      {.name = "b", .linear_ms = 2, .max_tokens = 80}},
          .strategies = {{.name = "s", .replicas = {1, 1}}},
          .lengths = {40, 60}};
}

LayoutInstance layout() {
  return {.name = "two",
          .capacity = 100,
          .buffers = {{.id = "x", .lower = 0, .upper = 2, .size = 8},
                      {.id = "y", .lower = 1, .upper = 3, .size = 8}}};
}

OrderInstance order() {
  return {.name = "two",
          .tensors = {{.id = "x", .size = 8, .input = true}, {.id = "y", .size = 4}},
          .operators = {{.id = "f", .reads = {0}, .writes = {1}}, {.id = "g", .reads = {1}}}};
}

StrategyInstance strategy() {
  return {
      .name = "two",
      .model = {.hidden = 64, .heads = 2, .vocabulary = 100, .blocks = {{.count = 2, .ffn = 128}}},
      .cluster = {.nodes = 1, .devices_per_node = 2, .memory_mib = 500},
      .lengths = {40, 60}};
}

struct Broken {
  std::string name;
  std::string code;  // the code that must be reported
  Instance instance;
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

template <class InstanceT, class Change>
Broken broken(const char* name, const char* code, InstanceT instance, Change change) {
  change(instance);
  return {std::string(family_name(Instance(instance))) + '_' + name, code, std::move(instance)};
}

std::vector<Broken> table() {
  const auto of_scatter = [](const char* name, const char* code, auto change) {
    return broken(name, code, scatter(), change);
  };
  const auto of_assign = [](const char* name, const char* code, auto change) {
    return broken(name, code, assign(), change);
  };
  const auto of_layout = [](const char* name, const char* code, auto change) {
    return broken(name, code, layout(), change);
  };
  const auto of_order = [](const char* name, const char* code, auto change) {
    return broken(name, code, order(), change);
  };
  const auto of_strategy = [](const char* name, const char* code, auto change) {
    return broken(name, code, strategy(), change);
  };
  return {
      of_scatter("length_0", "E205", [](auto& i) { i.lengths[0] = 0; }),
      of_scatter("length_negative", "E205", [](auto& i) { i.lengths[0] = -5; }),
      of_scatter("length_huge", "E205", [](auto& i) { i.lengths[0] = kMaxExact + 1; }),
      of_scatter("lengths_huge", "E304",
                 [](auto& i) {
                   i.lengths = {kMaxExact, kMaxExact};
                 }),
      of_scatter("pad_multiple_0", "E205", [](auto& i) { i.pad_multiple = 0; }),
      of_scatter("pad_multiple_negative", "E205", [](auto& i) { i.pad_multiple = -8; }),
      of_scatter("padding_to_multiples_of_0", "E205",
                 [](auto& i) { i.padding = Padding{.sequence_multiple = 0}; }),
      of_scatter("offload_at_no_rate", "E206",
                 [](auto& i) { i.model.offload = ActivationOffload{.mib_per_token = 0.1}; }),
      of_scatter("offload_in_a_pipeline", "E312",
                 [](auto& i) {
                   i.pipeline_stages = 2;
                   i.model.offload =
                       ActivationOffload{.mib_per_token = i.model.activation_mib_per_token / 2,
                                         .out_mib_per_ms = 1,
                                         .in_mib_per_ms = 1};
                 }),
      of_scatter("padding_beside_pad_multiple", "E311",
                 [](auto& i) {
                   i.pad_multiple = 2;
                   i.padding = Padding{};
                 }),
      of_scatter("devices_0", "E205", [](auto& i) { i.cluster.devices = 0; }),
      of_scatter("devices_negative", "E205", [](auto& i) { i.cluster.devices = -2; }),
      of_scatter("no_degrees", "E301", [](auto& i) { i.cluster.degrees.clear(); }),
      of_scatter("degree_0", "E205",
                 [](auto& i) {
                   i.cluster.degrees = {0, 1};
                 }),
      of_scatter("degree_above_the_devices", "E301",
                 [](auto& i) {
                   i.cluster.degrees = {1, 4};
                 }),
      of_scatter("degrees_descending", "E301",
                 [](auto& i) {
                   i.cluster.degrees = {2, 1};
                 }),
      of_scatter("memory_negative", "E206", [](auto& i) { i.cluster.memory_mib = -1; }),
      of_scatter("memory_nan", "E203", [](auto& i) { i.cluster.memory_mib = kNan; }),
      of_scatter("sequence_nan", "E203", [](auto& i) { i.model.sequence_mib = kNan; }),
      of_scatter("chunks_of_no_logits", "E307", [](auto& i) { i.model.logits_chunk_tokens = 8; }),
      of_scatter("activation_0", "E206", [](auto& i) { i.model.activation_mib_per_token = 0; }),
      of_scatter("activation_nan", "E203",
                 [](auto& i) { i.model.activation_mib_per_token = kNan; }),
      of_scatter("states_negative", "E206", [](auto& i) { i.model.states_mib = -1; }),
      of_scatter("cost_negative", "E206", [](auto& i) { i.cost.linear_ms = -1; }),
      of_scatter("cost_infinite", "E203", [](auto& i) { i.cost.quadratic_ms = kInf; }),
      of_scatter("micro_batches_multiple_of_0", "E205",
                 [](auto& i) { i.rules.micro_batches_multiple_of = 0; }),
      of_scatter("no_bandwidth", "E303", [](auto& i) { i.cost.all_to_all.mib_per_token = 1; }),
      of_assign("length_0", "E205", [](auto& i) { i.lengths[0] = 0; }),
      of_assign("length_negative", "E205", [](auto& i) { i.lengths[0] = -5; }),
      of_assign("pad_multiple_0", "E205", [](auto& i) { i.pad_multiple = 0; }),
      of_assign("devices_0", "E205", [](auto& i) { i.devices = 0; }),
      of_assign("too_few_devices", "E343", [](auto& i) { i.devices = 1; }),
      of_assign("no_schemes", "E341",
                [](auto& i) {
                  i.schemes.clear();
                  i.strategies[0].replicas.clear();
                }),
      of_assign("schemes_alike", "E104", [](auto& i) { i.schemes[1].name = "a"; }),
      of_assign("stages_0", "E205", [](auto& i) { i.schemes[0].pp = 0; }),
      of_assign("tp_0", "E205", [](auto& i) { i.schemes[0].tp = 0; }),
      of_assign("cap_0", "E205", [](auto& i) { i.schemes[0].max_tokens = 0; }),
      of_assign("cost_nan", "E203", [](auto& i) { i.schemes[0].linear_ms = kNan; }),
      of_assign("no_strategies", "E341", [](auto& i) { i.strategies.clear(); }),
      of_assign("no_replica", "E344",
                [](auto& i) {
                  i.strategies[0].replicas = {0, 0};
                }),
      of_assign("replicas_missing", "E205", [](auto& i) { i.strategies[0].replicas = {1}; }),
      of_assign("replicas_negative", "E205",
                [](auto& i) {
                  i.strategies[0].replicas = {1, -1};
                }),
      of_assign("rows_multiple_of_0", "E205", [](auto& i) { i.constraints.rows_multiple_of = 0; }),
      of_assign("chunk_size_0", "E205", [](auto& i) { i.constraints.chunks.emplace(); }),
      of_assign("chunks_and_rows", "E345",
                [](auto& i) {
                  i.constraints.chunks = ChunkRule{.size = 16};
                  i.constraints.equal_rows = true;
                }),
      of_scatter("exchange_is_no_kind", "E305",
                 [](auto& i) {
                   i.cost.exchange = Exchange{.kinds = {{2, {static_cast<ExchangeKind>(9)}}},
                                              .inside_mib_per_ms = 1};
                 }),
      of_order("size_negative", "E205", [](auto& i) { i.tensors[0].size = -1; }),
      of_order("alignment_0", "E205", [](auto& i) { i.alignment = 0; }),
      of_order("reads_no_tensor", "E372", [](auto& i) { i.operators[0].reads = {9}; }),
      of_order("ids_alike", "E371", [](auto& i) { i.tensors[1].id = "x"; }),
      of_strategy("recompute_is_no_value", "E203",
                  [](auto& i) { i.options.recompute = {static_cast<StrategyRecompute>(9)}; }),
      of_strategy("length_0", "E205", [](auto& i) { i.lengths[0] = 0; }),
      of_strategy("memory_nan", "E203", [](auto& i) { i.cluster.memory_mib = kNan; }),
      of_strategy(
          "layers_huge", "E205",
          [](auto& i) { i.model.blocks[0].count = std::numeric_limits<std::int64_t>::max(); }),
      of_strategy("nodes_0", "E205", [](auto& i) { i.cluster.nodes = 0; }),
      of_layout("alignment_0", "E205", [](auto& i) { i.alignment = 0; }),
      of_layout("alignment_of_a_buffer_0", "E205", [](auto& i) { i.buffers[0].alignment = 0; }),
      of_layout("alignment_negative", "E205", [](auto& i) { i.buffers[0].alignment = -8; }),
      of_layout("size_negative", "E205", [](auto& i) { i.buffers[0].size = -1; }),
      of_layout("capacity_negative", "E205", [](auto& i) { i.capacity = -1; }),
      of_layout("lower_negative", "E205", [](auto& i) { i.buffers[0].lower = -1; }),
      of_layout("no_lifetime", "E331", [](auto& i) { i.buffers[0].upper = 0; }),
      of_layout("ids_alike", "E333", [](auto& i) { i.buffers[1].id = "x"; }),
      of_layout("id_is_an_index", "E333",
                [](auto& i) {
                  i.buffers[0].id = "1";
                  i.buffers[1].id = "";
                }),
      of_layout("pin_off_its_alignment", "E334",
                [](auto& i) {
                  i.alignment = 8;
                  i.buffers[0].offset = 4;
                }),
      of_layout("pin_negative", "E205", [](auto& i) { i.buffers[0].offset = -8; }),
      of_layout("gap_outside", "E332",
                [](auto& i) {
                  i.buffers[0].gaps = {{5, 7}};
                }),
      of_layout("sizes_huge", "E335",
                [](auto& i) { i.buffers[0].size = i.buffers[1].size = kMaxExact; }),
      of_layout("alignments_huge", "E335",
                [](auto& i) {
                  i.alignment = kMaxExact;
                  i.buffers[0].alignment = kMaxExact - 1;
                }),
      of_layout("layer_of_no_buffer", "E336",
                [](auto& i) {
                  i.layers = {{.name = "l", .occurrences = {{0}, {7}}}};
                }),
  };
}

class BrokenInstance : public testing::TestWithParam<Broken> {};

TEST_P(BrokenInstance, IsRefusedWithTheCodeOfAFile) {
  const Instance& instance = GetParam().instance;
  for (const char* method : {"auto", "fast", "exact", "nonsense"}) {
    Budget budget({.node_limit = 10});
    const Outcome outcome = solve(instance, {.method = method}, budget);
    EXPECT_EQ(outcome.status, Status::error);
    EXPECT_EQ(outcome.stopped_by, StoppedBy::error);
    EXPECT_FALSE(outcome.plan);
    EXPECT_EQ(outcome.errors, check(instance));
    EXPECT_THAT(outcome.detail, HasSubstr(outcome.errors.front().message));
    std::vector<std::string> codes;
    for (const InputError& error : outcome.errors) codes.push_back(error.code);
    EXPECT_THAT(codes, testing::Contains(GetParam().code));
  }
}

TEST_P(BrokenInstance, KillsNothing) {
  const Instance& instance = GetParam().instance;
  methods(instance);
  const Plan plans[] = {ScatterPlan(), AssignPlan(), LayoutPlan(), OrderPlan(), StrategyPlan()};
  for (const Plan& plan : plans) {
    const std::vector<Violation> found = verify(instance, plan);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().rule, plan.index() == instance.index() ? "instance" : "problem");
  }
  bool given = false;
  plan_stream(
      [&]() -> std::optional<StreamStep> {
        if (given) return std::nullopt;
        given = true;
        return StreamStep{.index = 0, .instance = instance};
      },
      {.method = "fast"}, {.node_limit = 10}, 1,
      [](PlannedStep&& step) {
        EXPECT_EQ(step.outcome.status, Status::error);
        return true;
      });
}

INSTANTIATE_TEST_SUITE_P(All, BrokenInstance, testing::ValuesIn(table()),
                         [](const auto& broken) { return broken.param.name; });

TEST(SoundInstance, IsSolved) {
  for (const Instance& instance : {Instance(scatter()), Instance(assign()), Instance(layout()),
                                   Instance(order()), Instance(strategy())}) {
    Budget budget({.node_limit = 10});
    const Outcome outcome = solve(instance, {.method = "fast"}, budget);
    EXPECT_TRUE(outcome.plan) << family_name(instance) << ": " << outcome.detail;
    EXPECT_TRUE(outcome.errors.empty());
  }
}

TEST(SoundInstance, NeedsAMethodAndAStartOfItsFamily) {
  const Instance instances[] = {scatter(), assign(), layout(), order(), strategy()};
  const Plan plans[] = {ScatterPlan(), AssignPlan(), LayoutPlan(), OrderPlan(), StrategyPlan()};
  for (const Instance& instance : instances) {
    Budget budget({.node_limit = 10});
    const Outcome unknown = solve(instance, {.method = "magic"}, budget);
    EXPECT_EQ(unknown.status, Status::error);
    EXPECT_THAT(unknown.detail, HasSubstr("E701 method: must be one of auto, "));
    for (const int backend : {3, 77, 255}) {
      const Outcome nameless =
          solve(instance, {.backend = static_cast<MilpBackend>(backend)}, budget);
      EXPECT_EQ(nameless.status, Status::error);
      EXPECT_THAT(nameless.detail,
                  HasSubstr("E701 backend: must be cbc, glpk or highs, is the number " +
                            std::to_string(backend)));
    }
    for (const Plan& plan : plans) {
      if (plan.index() == instance.index()) continue;
      const Outcome other = solve(instance, {.start = plan}, budget);
      EXPECT_EQ(other.status, Status::error);
      EXPECT_THAT(other.detail, HasSubstr("E209 start: must be a plan of "));
    }
  }
}

}  // namespace
}  // namespace stowage::broken_instance_test
