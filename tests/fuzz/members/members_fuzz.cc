// Instances, plans, certificates, proofs and trainer steps as a program may build them, with
// members that no document could contain. check(), verify() and the checkers must answer for all of
// them, and accepted objects must be written, read again and be true.
//
//   fuzz_members SAMPLES SECONDS [SEED]    draws cases until the time is over
//   fuzz_members SAMPLES CASE...           runs these alone, as "assign plan .5.0=3 .2=1"
//
// A broken promise ends the program; it then prints the case, and a smaller one if fewer of its
// changes do. Exit code 0 if nothing was found.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "instances/check.h"
#include "instances/documents.h"
#include "instances/families.h"
#include "instances/json/writer.h"
#include "instances/partition/partition.h"
#include "instances/trainer/step.h"
#include "instances/verify.h"
#include "tests/fuzz/members/changes.h"
#include "tests/fuzz/promise.h"

namespace stowage {
namespace {

// Limit of a case in seconds; large instances take some time.
constexpr unsigned kCaseSeconds = 120;

// A sample instance with its solved objects.
template <class Family>
struct Sample {
  typename Family::Instance instance;
  typename Family::Plan plan;
  std::optional<typename Family::Certificate> certificate;
};

// A case calls the public functions for any family; those of one family require an instance that
// check() accepts. `object` names the changed object: instance, plan, certificate, proof, trainer
// or partition.
struct Case {
  std::string sample;
  std::string object;
  std::vector<Change> changes;
};

std::string to_string(const Case& one) {
  std::string text = one.sample + ' ' + one.object;
  for (const Change& each : one.changes)
    text += ' ' + each.place + '=' + std::to_string(each.value);
  return text;
}

Case case_of(const std::string& text) {
  std::istringstream words(text);
  Case one;
  words >> one.sample >> one.object;
  for (std::string word; words >> word;) {
    const std::size_t cut = word.find('=');
    if (cut == std::string::npos) continue;
    one.changes.push_back({word.substr(0, cut), std::stoul(word.substr(cut + 1))});
  }
  return one;
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void touch(const std::vector<Violation>& violations) {
  for (const Violation& each : violations)
    require(!stowage::to_string(each).empty(), "a violation is told");
}

template <class Family>
void check_instance(const Sample<Family>& sample, const typename Family::Instance& instance) {
  const std::vector<InputError> errors = check(instance);
  for (const InputError& error : errors) require(!to_string(error).empty(), "an error is told");
  const std::vector<Violation> violations = verify(InstanceView(instance), PlanView(sample.plan));
  touch(violations);
  touch(check_infeasibility(InstanceView(instance),
                            InfeasibilityProof{.by = "load", .witnesses = {0}}));
  if (sample.certificate) {
    touch(
        check_certificate(instance, Certificate(Certificate::Any(*sample.certificate))).violations);
  }
  if (!errors.empty()) {
    require(!violations.empty() && violations.front().rule == "instance",
            "no plan is valid for it");
    return;
  }
  const std::string text = write_instance(instance);
  const auto again = read_instance(text);
  require(static_cast<bool>(again), "an instance without errors is read again");
  require(write_instance(*again) == text, "and is written the same");
  require(instance_hash(*again) == instance_hash(instance), "and has the same hash");
}

template <class Family>
void check_plan(const Sample<Family>& sample, const typename Family::Plan& plan) {
  const std::vector<Violation> violations = verify(InstanceView(sample.instance), PlanView(plan));
  touch(violations);
  const std::string text = write_plan(plan);
  const auto again = read_plan(text);
  if (!violations.empty()) return;
  require(static_cast<bool>(again), "a valid plan is read again");
  require(write_plan(*again) == text, "and is written the same");
  if (has_trainer_steps(sample.instance)) (void)trainer_step(sample.instance, plan);
}

template <class Family>
void check_proofs(const Sample<Family>& sample, const typename Family::Certificate& certificate) {
  const CheckedCertificate checked =
      check_certificate(sample.instance, Certificate(Certificate::Any(certificate)));
  touch(checked.violations);
  if (!checked.violations.empty()) return;
  require(checked.bound <= objective_of(sample.plan) * (1 + 1e-6),
          "a proven bound is at most a plan");
}

template <class Family>
void check_proof(const Sample<Family>& sample, const InfeasibilityProof& proof) {
  const std::vector<Violation> violations =
      check_infeasibility(InstanceView(sample.instance), proof);
  touch(violations);
  require(proof.by == kByCertificate || proof.by == "none" || !violations.empty(),
          "an instance with a plan is not infeasible");
}

void check_trainer(const TrainerStep& step) {
  for (const TrainerBatch& batch : step.batches) {
    (void)batch.loss_denominator();
    (void)batch.max_seqlen();
    (void)batch.position_resets();
  }
  (void)step.loss_denominator();
  (void)trainer_schedule(step);
  if (!trainer_faults(step).empty()) return;
  (void)trainer_arrays(step);
  const std::string text = write_trainer_json(step);
  const auto from_json = read_trainer_json(text);
  require(static_cast<bool>(from_json), "a step without faults is read again");
  require(write_trainer_json(*from_json) == text, "and is written the same");
  const std::string bytes = write_trainer_binary(step);
  const auto from_bytes = read_trainer_binary(bytes);
  require(static_cast<bool>(from_bytes), "a step without faults is read again from bytes");
  require(write_trainer_binary(*from_bytes) == bytes, "and is written the same as bytes");
}

void check_partition(const PartitionInstance& instance) {
  const std::vector<InputError> errors = check(instance);
  if (!errors.empty()) return;
  (void)partition_costs(instance);
  touch(verify(instance, Partition{.bins = {{.sequences = {0}}}}));
}

// Draws changes of a value, or makes those of a case.
template <class T>
void apply(T& value, Case& one, std::mt19937_64* draw) {
  if (draw == nullptr) {
    for (const Change& each : one.changes) change(value, each);
    return;
  }
  const std::size_t count = 1 + (*draw)() % 3;
  for (std::size_t n = 0; n < count; ++n) {
    const std::vector<Place> places = places_of(value);
    const Place& place = places[(*draw)() % places.size()];
    one.changes.push_back({place.name, (*draw)() % place.values});
    change(value, one.changes.back());
  }
}

class Driver {
 public:
  explicit Driver(const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".json") continue;
      const auto instance = read_instance(content(entry.path()));
      require(static_cast<bool>(instance), "a sample is an instance");
      const std::string outcome = content(folder / "outcomes" / entry.path().filename());
      names_.push_back(entry.path().stem());
      std::visit(
          [&]<class I>(const I& own) {
            using Family = FamilyOf<I>;
            const auto plan = read_plan(outcome);
            require(static_cast<bool>(plan), "the outcome of a sample has a plan");
            Sample<Family> sample{.instance = own, .plan = std::get<typename Family::Plan>(*plan)};
            require(verify(InstanceView(own), PlanView(sample.plan)).empty(),
                    "that is valid: else solve the sample anew");
            if (const auto read = Family::read_certificate(outcome); read && *read) {
              sample.certificate = **read;
            }
            samples_.emplace(names_.back(), std::move(sample));
          },
          *instance);
    }
    std::sort(names_.begin(), names_.end());
  }

  Case draw_case(std::mt19937_64& draw) const {
    static const std::vector<std::string> kObjects = {
        "instance", "instance", "plan", "certificate", "proof", "trainer", "partition"};
    return {names_[draw() % names_.size()], kObjects[draw() % kObjects.size()], {}};
  }

  // Draws the changes of the case if `draw` is given, and prints the case before it runs.
  void run(Case& one, std::mt19937_64* draw, int to) const {
    std::visit([&](const auto& sample) { run_of(sample, one, draw, to); }, samples_.at(one.sample));
  }

 private:
  static void say(const Case& one, int to) {
    const std::string line = to_string(one) + '\n';
    if (to >= 0 && write(to, line.data(), line.size()) < 0) std::abort();
  }

  template <class Family>
  static void run_of(const Sample<Family>& sample, Case& one, std::mt19937_64* draw, int to) {
    const auto with = [&](auto value, auto judge) {
      apply(value, one, draw);
      say(one, to);
      judge(value);
    };
    if (one.object == "instance") {
      with(sample.instance, [&](const auto& value) { check_instance(sample, value); });
    } else if (one.object == "plan") {
      with(sample.plan, [&](const auto& value) { check_plan(sample, value); });
    } else if (one.object == "certificate") {
      if (!sample.certificate) return;
      with(*sample.certificate, [&](const auto& value) { check_proofs(sample, value); });
    } else if (one.object == "proof") {
      static const std::vector<std::string> kNames = {"sequences", "load",      "total",
                                                      "pins",      "operators", "search"};
      InfeasibilityProof proof{
          .by = kNames[sample.plan.name.size() % kNames.size()], .witnesses = {0, 1}, .step = 0};
      with(proof, [&](const auto& value) { check_proof(sample, value); });
    } else if (one.object == "trainer") {
      if (!has_trainer_steps(sample.instance)) return;
      if (const auto step = trainer_step(sample.instance, sample.plan)) with(*step, check_trainer);
    } else {
      with(PartitionInstance{.lengths = {5, 9, 2, 7}, .bins = 2}, check_partition);
    }
  }

  std::vector<std::string> names_;
  std::map<std::string, std::variant<Sample<Scatter>, Sample<Assign>, Sample<Layout>, Sample<Order>,
                                     Sample<StrategyFamily>>>
      samples_;
};

// Returns whether the case makes a separate process fail.
bool fails(const Driver& driver, const Case& one) {
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(0);
    Case again = one;
    alarm(kCaseSeconds);
    driver.run(again, nullptr, -1);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status != 0;
}

Case smaller(const Driver& driver, Case one) {
  for (std::size_t n = one.changes.size(); n-- > 0;) {
    Case less = one;
    less.changes.erase(less.changes.begin() + static_cast<std::ptrdiff_t>(n));
    if (fails(driver, less)) one = less;
  }
  return one;
}

// Draws cases in a separate process, which prints each case before it runs: if the process ends,
// the last case is known.
int draw_for(const Driver& driver, double seconds, std::uint64_t seed) {
  int ends[2];
  if (pipe(ends) != 0) return 2;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    for (std::uint64_t number = 0; std::chrono::steady_clock::now() < end; ++number) {
      std::mt19937_64 draw(seed * 1'000'003 + number);
      Case one = driver.draw_case(draw);
      alarm(kCaseSeconds);
      driver.run(one, &draw, ends[1]);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string last;
  std::int64_t cases = 0;
  FILE* const lines = fdopen(ends[0], "r");
  char* line = nullptr;
  for (std::size_t size = 0; getline(&line, &size, lines) > 0; ++cases) last = line;
  std::free(line);
  std::fclose(lines);
  int status = 0;
  waitpid(child, &status, 0);
  std::cout << "fuzz: the library, seed " << seed << ", " << cases << " cases\n";
  if (status == 0) return 0;
  std::cout << "fuzz: found " << last << "fuzz: the smallest is "
            << to_string(smaller(driver, case_of(last))) << '\n';
  return 1;
}

int run_all(const Driver& driver, int count, char** cases) {
  int failed = 0;
  for (int n = 0; n < count; ++n) {
    if (!fails(driver, case_of(cases[n]))) continue;
    std::cout << "fails: " << cases[n] << '\n';
    ++failed;
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace stowage

int main(int count, char** words) {
  if (count < 3) return 2;
  const stowage::Driver driver(words[1]);
  char* end = nullptr;
  const double seconds = std::strtod(words[2], &end);
  if (*end != '\0') return stowage::run_all(driver, count - 2, words + 2);
  return stowage::draw_for(driver, seconds, count > 3 ? std::strtoull(words[3], nullptr, 10) : 0);
}
