#include "instances/scatter/step_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "instances/json/limits.h"

namespace stowage::scatter_step_stream_test {
namespace {

using ::testing::ElementsAre;

const ScatterInstance kCluster{.name = "run",
                               .cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}},
                               .model = {.activation_mib_per_token = 1}};

std::vector<Tokens> lengths_of(const Result<std::optional<ScatterInstance>>& step) {
  return step && *step ? (**step).lengths : std::vector<Tokens>{-1};
}

std::string errors_of(const Result<std::optional<ScatterInstance>>& step) {
  std::string text;
  if (!step) {
    for (const InputError& error : step.errors()) text += to_string(error) + '\n';
  }
  return text;
}

TEST(StepStream, CutsAListIntoBatches) {
  std::istringstream list("5\n6\n7\n8\n9");
  StepStream steps(list, "list.txt", kCluster, {.batch_size = 2});
  EXPECT_EQ(steps.index(), 0);
  const auto first = steps.next();
  EXPECT_THAT(lengths_of(first), ElementsAre(5, 6));
  EXPECT_EQ((**first).name, "run-0");
  EXPECT_EQ((**first).cluster, kCluster.cluster);
  EXPECT_TRUE(steps.skip());
  EXPECT_EQ(steps.index(), 2);
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(9));
  EXPECT_EQ(*steps.next(), std::nullopt);
  EXPECT_FALSE(steps.skip());
}

TEST(StepStream, ReadsTargetsBesideLengths) {
  std::istringstream lines(
      "{\"lengths\": [5, 6], \"loss_tokens\": [4, 0]}\n{\"lengths\": [5]}\n"
      "{\"lengths\": [5], \"loss_tokens\": [6]}\n{\"lengths\": [5], \"loss_tokens\": []}\n");
  StepStream steps(lines, "steps", kCluster, {});
  const auto first = steps.next();
  EXPECT_THAT(lengths_of(first), ElementsAre(5, 6));
  EXPECT_THAT((**first).loss_tokens, ElementsAre(4, 0));
  EXPECT_TRUE((**steps.next()).loss_tokens.empty());
  EXPECT_EQ(errors_of(steps.next()),
            "E306 /loss_tokens/0: must be from 0 to the length of the sequence, 5, is 6\n");
  EXPECT_EQ(errors_of(steps.next()),
            "E306 /loss_tokens: must have an entry for each of the 1 lengths, has 0\n");
}

TEST(StepStream, TargetsOfWhatIsClippedAreUnknown) {
  std::istringstream lines(
      "{\"lengths\": [3, 6], \"loss_tokens\": [2, 0]}\n"
      "{\"lengths\": [5, 3, 4], \"loss_tokens\": [1, 3, 4]}\n{\"lengths\": [5]}\n");
  StepStream steps(lines, "steps", kCluster, {.clip = 3});
  const auto first = steps.next();
  EXPECT_THAT(lengths_of(first), ElementsAre(3, 3));
  EXPECT_THAT((**first).loss_tokens, ElementsAre(2, 0));
  EXPECT_EQ(
      errors_of(steps.next()),
      "E306 /loss_tokens/0: must be 0 for a sequence that is clipped, from 5 to 3 tokens, is 1: "
      "cut the sequences first, and count the targets that are left\n"
      "E306 /loss_tokens/2: must be 0 for a sequence that is clipped, from 4 to 3 tokens, is 4: "
      "cut the sequences first, and count the targets that are left\n");
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(3));
}

TEST(StepStream, ANewCostHoldsForAllThatFollow) {
  const std::string directory = testing::TempDir();
  {
    std::ofstream file(directory + "/drift-cost.json");
    file << R"({"quadratic_ms": 0, "linear_ms": 7, "fixed_ms": 1})";
  }
  const std::string text =
      "[5]\n"
      R"({"lengths": [5], "cost": {"quadratic_ms": 0, "linear_ms": 2, "fixed_ms": 1}})"
      "\n[6]\n"
      R"({"lengths": [0], "cost": {"quadratic_ms": 0, "linear_ms": 3, "fixed_ms": 1}})"
      "\n"
      R"({"lengths": [5], "cost": {"quadratic_ms": -1, "linear_ms": 3, "fixed_ms": 1}})"
      "\n[7]\n"
      R"({"lengths": [5], "cost": {"file": "drift-cost.json"}})"
      "\n[8]\n";
  const std::vector<double> linear = {0, 2, 2, -1, -1, 2, 7, 7};  // -1: cannot be read
  // Skipped steps change the cost too, so that shards plan with equal costs.
  for (std::size_t skipped = 0; skipped < linear.size(); ++skipped) {
    std::istringstream lines(text);
    StepStream steps(lines, "steps", kCluster, {.directory = directory});
    for (std::size_t i = 0; i < skipped; ++i) EXPECT_TRUE(steps.skip());
    for (std::size_t i = skipped; i < linear.size(); ++i) {
      const auto step = steps.next();
      EXPECT_EQ(step ? (**step).cost.linear_ms : -1, linear[i]) << skipped << ' ' << i;
    }
  }
}

TEST(StepStream, LeavesOutTheRest) {
  std::istringstream list("5\n6\n7\n");
  StepStream steps(list, "list.txt", kCluster, {.batch_size = 2, .drop_last = true});
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(5, 6));
  EXPECT_EQ(*steps.next(), std::nullopt);
}

TEST(StepStream, AListThatEndsWithItsBatchHasNoEmptyStepBehindIt) {
  std::istringstream list("5\n6\n");
  StepStream steps(list, "list.txt", kCluster, {.batch_size = 2});
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(5, 6));
  EXPECT_EQ(*steps.next(), std::nullopt);
}

TEST(StepStream, ReadsJsonLines) {
  std::istringstream lines("[5, 6]\n{\"lengths\": [7], \"x-source\": \"web\"}\n[]\n");
  StepStream steps(lines, "steps.jsonl", kCluster, {});
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(5, 6));
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(7));
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre());
  EXPECT_EQ(*steps.next(), std::nullopt);
}

TEST(StepStream, ErrorsNameTheLineAndEndNothing) {
  std::istringstream lines("[5, 0, 1.5]\n{\"length\": [7]}\n7\n[8\n[9007199254740992, 1]\n[9]\n");
  StepStream steps(lines, "steps.jsonl", kCluster, {});
  const auto first = steps.next();
  EXPECT_EQ(steps.place(), "steps.jsonl:1");
  EXPECT_EQ(errors_of(first),
            "E205 /1: must be an integer from 1 to 9007199254740992, is 0\n"
            "E204 /2: must be an integer from 1 to 9007199254740992 without fraction or exponent, "
            "is 1.5\n");
  EXPECT_THAT(errors_of(steps.next()), testing::HasSubstr("did you mean \"lengths\"?"));
  EXPECT_EQ(
      errors_of(steps.next()),
      "E203 /: must be an array of lengths or {\"lengths\": [...]} (a list with a length a line "
      "needs a batch size), is 7\n");
  EXPECT_THAT(errors_of(steps.next()), testing::HasSubstr("E101 "));
  EXPECT_THAT(errors_of(steps.next()), testing::HasSubstr("E304 "));
  EXPECT_EQ(steps.place(), "steps.jsonl:5");
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(9));
}

TEST(StepStream, ErrorsOfAListNameItsLines) {
  std::istringstream list("5\n6\n7\nx\n-9\n");
  StepStream steps(list, "list.txt", kCluster, {.batch_size = 3});
  EXPECT_TRUE(steps.skip());
  EXPECT_THAT(errors_of(steps.next()), testing::AllOf(testing::HasSubstr("E402 list.txt:4: "),
                                                      testing::HasSubstr("E402 list.txt:5: ")));
}

TEST(StepStream, CutsWhatIsTooLong) {
  std::istringstream list("5\n600\n7\n800\n");
  StepStream steps(list, "list.txt", kCluster, {.batch_size = 2, .clip = 200});
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(5, 200));
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(7, 200));
  EXPECT_EQ(steps.clipped(), 2);
}

// A stream without memory: `count` repetitions of `what`, then the end or an error.
class Endless : public std::streambuf {
 public:
  Endless(std::string what, std::int64_t count, bool breaks)
      : what_(std::move(what)), count_(count), breaks_(breaks) {}

 private:
  int_type underflow() override {
    if (count_-- > 0) {
      setg(what_.data(), what_.data(), what_.data() + what_.size());
      return traits_type::to_int_type(what_.front());
    }
    if (breaks_) throw std::runtime_error("gone");
    return traits_type::eof();
  }

  std::string what_;
  std::int64_t count_;
  bool breaks_;
};

TEST(StepStream, ALineLongerThanADocumentIsNotKept) {
  const std::string piece(1 << 20, ' ');
  rusage use{};
  ASSERT_EQ(getrusage(RUSAGE_SELF, &use), 0);
  const auto before = use.ru_maxrss;
  for (const bool list : {false, true}) {
    SCOPED_TRACE(list);
    Endless endless(piece, 3 * static_cast<std::int64_t>(kMaxDocumentBytes >> 20), false);
    std::istream stream(&endless);
    const StepStreamOptions two{.batch_size = 2};
    StepStream steps(stream, "steps", kCluster, list ? two : StepStreamOptions{});
    const std::string error =
        list ? "E107 steps:1: must be a line of " : "E107 /: must be a line of ";
    EXPECT_THAT(errors_of(steps.next()), testing::StartsWith(error));
    EXPECT_EQ(steps.place(), "steps:1");
    EXPECT_EQ(steps.index(), 0);
    EXPECT_FALSE(steps.skip());
    EXPECT_THAT(errors_of(steps.next()), testing::StartsWith(error));
  }
  ASSERT_EQ(getrusage(RUSAGE_SELF, &use), 0);
  EXPECT_LT(use.ru_maxrss - before, 1'800'000) << "KiB";
}

TEST(StepStream, LinesOfAnyLengthComeWhole) {
  for (const int length : {65533, 65534, 65535, 65536, 131070, 131071}) {
    SCOPED_TRACE(length);
    const std::string line = '[' + std::string(static_cast<std::size_t>(length) - 3, ' ') + "7]";
    for (const char* end : {"\n[8]\n", "\n[8]"}) {
      std::istringstream lines(line + end);
      StepStream steps(lines, "steps.jsonl", kCluster, {});
      EXPECT_THAT(lengths_of(steps.next()), ElementsAre(7));
      EXPECT_THAT(lengths_of(steps.next()), ElementsAre(8));
      EXPECT_EQ(*steps.next(), std::nullopt);
    }
    std::istringstream alone(line);
    StepStream steps(alone, "steps.jsonl", kCluster, {});
    EXPECT_THAT(lengths_of(steps.next()), ElementsAre(7));
    EXPECT_EQ(*steps.next(), std::nullopt);
    std::istringstream passed(line + "\n[8]");
    StepStream rest(passed, "steps.jsonl", kCluster, {});
    EXPECT_TRUE(rest.skip());
    EXPECT_THAT(lengths_of(rest.next()), ElementsAre(8));
  }
}

TEST(StepStream, AStreamThatBreaksOffIsNoEnd) {
  Endless broken("5\n6\n7\n", 1, true);
  std::istream stream(&broken);
  StepStream steps(stream, "list.txt", kCluster, {.batch_size = 2});
  EXPECT_THAT(lengths_of(steps.next()), ElementsAre(5, 6));
  EXPECT_FALSE(steps.skip());
  EXPECT_EQ(errors_of(steps.next()),
            "E110 list.txt:3: must be a file that can be read, is cut short by a read error\n");
}

// A stream with an interrupt between two parts; the second part follows as if the stream continued.
class Interrupted : public std::streambuf {
 public:
  Interrupted(std::string before, std::string behind, std::atomic<bool>& interrupt)
      : before_(std::move(before)), behind_(std::move(behind)), interrupt_(interrupt) {
    setg(before_.data(), before_.data(), before_.data() + before_.size());
  }

 private:
  int_type underflow() override {
    interrupt_ = true;
    if (behind_.empty()) return traits_type::eof();
    setg(behind_.data(), behind_.data(), behind_.data() + behind_.size());
    return traits_type::to_int_type(behind_.front());
  }

  std::string before_;
  std::string behind_;
  std::atomic<bool>& interrupt_;
};

TEST(StepStream, AnInterruptEndsItBeforeTheStepUnderWay) {
  struct Case {
    std::string before;  // the first step, and a part of the second
    std::string behind;
    std::optional<std::int64_t> batch_size;
  };
  for (const Case& c :
       {Case{"[5]\n", "", std::nullopt}, Case{"[5]\n[6, 7", "", std::nullopt},
        Case{"[5]\n[6, 7", "0]\n[8]\n", std::nullopt},
        Case{"[5]\n", std::string(1 << 20, ' '), std::nullopt}, Case{"5\n", "", 1},
        Case{"5\n6", "", 1}, Case{"5\n5\n6\n", "", 2}, Case{"5\n5\n6\n", "7\n8\n", 2}}) {
    SCOPED_TRACE(c.before);
    for (const bool skipped : {false, true}) {
      std::atomic<bool> interrupt = false;
      Interrupted input(c.before, c.behind, interrupt);
      std::istream stream(&input);
      StepStream steps(stream, "steps", kCluster,
                       {.batch_size = c.batch_size, .interrupt = &interrupt});
      EXPECT_TRUE(steps.skip());
      EXPECT_FALSE(interrupt);
      if (skipped) {
        EXPECT_FALSE(steps.skip());
      }
      const auto end = steps.next();
      ASSERT_TRUE(end) << errors_of(end);
      EXPECT_EQ(*end, std::nullopt);
      EXPECT_EQ(steps.index(), 1);
    }
  }
}

TEST(StepStream, ATableOfCostsMustFitIntoMemory) {
  ScatterInstance cluster = kCluster;
  cluster.cluster = {.devices = 1000, .memory_mib = 100, .aligned = false};
  for (int d = 1; d <= 1000; ++d) cluster.cluster.degrees.push_back(d);
  std::string list;
  for (int k = 0; k <= 200'000; ++k) list += "1\n";
  std::istringstream lines(list);
  StepStream steps(lines, "list.txt", cluster, {.batch_size = kMaxSequences});
  EXPECT_THAT(errors_of(steps.next()),
              testing::HasSubstr("must be at most 200000000 sequences times degrees"));
}

}  // namespace
}  // namespace stowage::scatter_step_stream_test
