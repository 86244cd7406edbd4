// The checker of certificates by makespans, against certificates made by hand: every rule with a
// case that passes and one that fails, and a step with too many groups to list.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "instances/scatter/certificate.h"
#include "instances/scatter/json/embedded_documents.h"
#include "instances/scatter/json/json.h"

namespace stowage::scatter_profile_check_test {
namespace {

using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Two devices of 100 tokens, degrees 1 and 2; a sequence of s tokens takes s ms on one device and
// s / 2 on two; a group costs 10 ms. All 150 tokens fit at once, on both devices in 10 + 75 ms; two
// micro-batches would take 20 + 75 at least.
ScatterInstance three() {
  ScatterInstance instance{.name = "three"};
  instance.cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}};
  instance.model = {.states_mib = 0, .activation_mib_per_token = 1};
  instance.cost = {.linear_ms = 1, .fixed_ms = 10};
  instance.lengths = {60, 30, 60};
  return instance;
}

// A token is worth half a ms, the price of a device-ms: a group pays its worth by its time, and a
// makespan of T lets both devices pay T - 10. So 75 ms of worth need T = 85.
ProfileNode leaf() {
  return {.kind = ProfileNode::Kind::priced,
          .values = {30, 15},
          .batches = {{{.time = 0.5}, {.time = 1}}}};
}

ScatterCertificate whole() { return {.bound_ms = 85 * (1 - 1e-9), .profiles = {{leaf()}}}; }

// Returns the same certificate, split into makespans below and above `at` ms.
ScatterCertificate halves(Ms at) {
  ScatterCertificate certificate = whole();
  const ProfileNode split{
      .kind = ProfileNode::Kind::split, .batch = 0, .at = at, .below = 1, .above = 2};
  certificate.profiles = {{split, leaf(), leaf()}};
  return certificate;
}

// Returns the first violation and its place, or an empty string.
std::string complaint(const ScatterCertificate& certificate,
                      const ScatterInstance& instance = three()) {
  const CertificateCheck check = check_certificate(instance, certificate);
  if (!check.violations.empty()) {
    EXPECT_EQ(check.bound_ms, 0);
    return check.violations.front().rule + ' ' + check.violations.front().where;
  }
  EXPECT_EQ(check.bound_ms, certificate.bound_ms);
  return "";
}

std::string with(ScatterCertificate certificate,
                 const std::function<void(ScatterCertificate&)>& change) {
  change(certificate);
  return complaint(certificate);
}

TEST(ProfileCheck, HandMadeCertificatesHold) {
  EXPECT_EQ(complaint(whole()), "");
  for (const Ms at : {0.0, 9.0, 50.0, 84.0, 90.0}) EXPECT_EQ(complaint(halves(at)), "") << at;
  // A makespan of 85 ms or more needs no prices, and neither does a case that no step matches.
  ScatterCertificate open = halves(85);
  open.profiles[0][2] = {};
  EXPECT_EQ(complaint(open), "");
  ScatterCertificate nothing = whole();
  nothing.bound_ms = 0;
  EXPECT_EQ(complaint(nothing), "");
}

TEST(ProfileCheck, NumbersAreFiniteAndNotNegative) {
  for (const double bad : {kNan, kInf, -1.0}) {
    SCOPED_TRACE(bad);
    EXPECT_EQ(with(whole(), [&](auto& c) { c.bound_ms = bad; }), "certificate_number /bound_ms");
    const char* at = "certificate_number /profiles/0/0";
    EXPECT_EQ(with(whole(), [&](auto& c) { c.profiles[0][0].values[1] = bad; }), at);
    EXPECT_EQ(with(whole(), [&](auto& c) { c.profiles[0][0].batches[0][1].time = bad; }), at);
    EXPECT_EQ(with(whole(), [&](auto& c) { c.profiles[0][0].batches[0][0].group = bad; }), at);
    EXPECT_EQ(with(halves(50), [&](auto& c) { c.profiles[0][0].at = bad; }), at);
  }
}

TEST(ProfileCheck, ShapesMatch) {
  const char* at = "certificate_profile /profiles/0/0";
  EXPECT_EQ(with(whole(), [](auto& c) { c.profiles[0][0].values.pop_back(); }), at);
  EXPECT_EQ(with(whole(), [](auto& c) { c.profiles[0][0].batches.clear(); }), at);
  EXPECT_EQ(with(whole(), [](auto& c) { c.profiles[0][0].batches.emplace_back(); }), at);
  EXPECT_EQ(with(whole(), [](auto& c) { c.profiles[0][0].batches[0].pop_back(); }), at);
  EXPECT_EQ(with(whole(), [](auto& c) { c.nodes.emplace_back(); }), "certificate_profile /nodes");
  EXPECT_EQ(with(whole(), [](auto& c) { c.profiles[0].clear(); }),
            "certificate_profile /profiles/0");
  EXPECT_EQ(with(whole(), [](auto& c) { c.profiles.resize(65, {leaf()}); }),
            "certificate_profile /profiles/1/0");
  EXPECT_THAT(complaint({.bound_ms = 85, .profiles = {65, ProfileTree{}}}),
              HasSubstr("certificate_profile"));
}

TEST(ProfileCheck, TreesLeaveNothingOut) {
  const auto split = [](std::size_t below, std::size_t above, std::size_t batch) {
    return with(halves(50), [&](auto& c) {
      c.profiles[0][0].below = below;
      c.profiles[0][0].above = above;
      c.profiles[0][0].batch = batch;
    });
  };
  const char* root = "certificate_profile /profiles/0/0";
  EXPECT_EQ(split(1, 2, 0), "");
  EXPECT_EQ(split(2, 1, 0), "");
  EXPECT_EQ(split(1, 1, 0), root);
  EXPECT_EQ(split(0, 2, 0), root);
  EXPECT_EQ(split(1, 3, 0), root);
  EXPECT_EQ(split(1, 2, 1), root);
  EXPECT_EQ(with(halves(50), [](auto& c) { c.profiles[0].push_back(leaf()); }),
            "certificate_profile /profiles/0/3");
}

// Sequences that take no time are worth something all the same, and share no work among more
// micro-batches.
TEST(ProfileCheck, SequencesWithoutTimeCount) {
  ScatterInstance idle = three();
  idle.cost.linear_ms = 0;
  ScatterCertificate certificate = whole();
  EXPECT_EQ(complaint(certificate, idle), "certificate_pattern /profiles/0/0/batches/0/0");
  certificate.profiles[0][0].values = {0, 0};
  const auto of_more = [&](Ms bound) {
    certificate.bound_ms = bound;
    for (const Violation& v : check_certificate(idle, certificate).violations) {
      if (v.where == "/profiles") return v.have;
    }
    return std::string("none");
  };
  EXPECT_EQ(of_more(19.9), "none");
  EXPECT_NE(of_more(20.1), "none");
  idle.cost.fixed_ms = 0;
  EXPECT_EQ(of_more(0), "none");
}

// A certificate supports at most 64 micro-batches.
TEST(ProfileCheck, MicroBatchesAreFew) {
  ScatterInstance many = three();
  many.lengths.assign(65 * 2, 100);
  ScatterCertificate certificate = whole();
  certificate.profiles[0][0].values = {1};
  EXPECT_EQ(complaint(certificate, many), "certificate_profile /profiles/0");
  many.lengths.resize(64 * 2);  // 64 overheads are more than the bound
  EXPECT_EQ(complaint(certificate, many), "");
}

TEST(ProfileCheck, GroupsAreWorthNoMoreThanTheyPay) {
  const char* single = "certificate_pattern /profiles/0/0/batches/0/0";
  EXPECT_EQ(with(whole(), [](auto& c) { c.profiles[0][0].values[0] = 31; }), single);
  EXPECT_EQ(with(whole(), [](auto& c) { c.profiles[0][0].batches[0][1].time = 0.9; }),
            "certificate_pattern /profiles/0/0/batches/0/1");
  // Payment per group instead of per ms. In less than 84 ms a single device has 74 ms for
  // sequences, at most one of 60 tokens; two devices have 148 ms, at most two of 60 tokens.
  const auto per_group = [](double one, double two) {
    return with(whole(), [&](auto& c) {
      c.bound_ms = 84;
      c.profiles[0][0].batches = {{{.group = one}, {.group = two}}};
    });
  };
  EXPECT_EQ(per_group(30, 60), "certificate_bound /profiles/0/0");
  EXPECT_EQ(per_group(29.9, 60), single);
  EXPECT_EQ(per_group(30, 59.9), "certificate_pattern /profiles/0/0/batches/0/1");
}

TEST(ProfileCheck, ClaimsNoMoreThanItProves) {
  const char* leaf_at = "certificate_bound /profiles/0/0";
  EXPECT_EQ(with(whole(), [](auto& c) { c.bound_ms = 85.01; }), leaf_at);
  EXPECT_EQ(with(whole(), [](auto& c) { c.profiles[0][0].values = {29.9, 15}; }), leaf_at);
  EXPECT_EQ(with(whole(), [](auto& c) { c.profiles[0][0] = {}; }), leaf_at);
  EXPECT_EQ(with(whole(), [](auto& c) { c.profiles.clear(); }), "certificate_tree /nodes");
  // Prices twice as high give twice the worth and twice the payment.
  EXPECT_EQ(with(whole(),
                 [](auto& c) {
                   c.bound_ms = 86;
                   c.profiles[0][0].values = {60, 30};
                   c.profiles[0][0].batches = {{{.time = 1}, {.time = 2}}};
                 }),
            leaf_at);
  // For two micro-batches or more only their overheads and the total work are certain, 20 + 75 ms.
  ScatterCertificate more = whole();
  more.bound_ms = 95.01;
  const std::vector<Violation> found = check_certificate(three(), more).violations;
  EXPECT_TRUE(std::ranges::any_of(found, [](const Violation& v) {
    return v.where == "/profiles" && v.need.find("of more micro-batches") != std::string::npos;
  }));
}

// The 75 ms of the sequences are lowered, and the 75 ms that devices earn raised, by 1e-12 of them.
TEST(ProfileCheck, SumsAreRoundedTowardsLess) {
  EXPECT_EQ(with(whole(), [](auto& c) { c.bound_ms = 85 - 110e-12; }),
            "certificate_bound /profiles/0/0");
  EXPECT_EQ(with(whole(), [](auto& c) { c.bound_ms = 85 - 190e-12; }), "");
}

// In a pipeline the longest micro-batch counts again: two micro-batches with an overhead of 0.1 ms
// and 0.75 ms of work share that work, and the longer one takes 0.475 ms once more. The optimum is
// at 2.5 micro-batches, the longest of which is the longest sequence: 1.4 ms.
TEST(ProfileCheck, MoreMicroBatchesOfAPipelineShareTheirWork) {
  ScatterInstance quick = three();
  quick.cost = {.linear_ms = 0.01, .fixed_ms = 0.1};
  quick.pipeline_stages = 2;
  const auto of_more = [&](Ms bound) {
    ScatterCertificate certificate{.bound_ms = bound, .profiles = {{leaf()}}};
    for (const Violation& v : check_certificate(quick, certificate).violations) {
      if (v.where == "/profiles") return v.have;
    }
    return std::string("none");
  };
  EXPECT_EQ(of_more(1.399), "none");
  EXPECT_NE(of_more(1.401), "none");
  // With an overhead of 0.2 ms two are the best: 0.4 + 0.75 ms and 0.575 ms once more.
  quick.cost.fixed_ms = 0.2;
  EXPECT_EQ(of_more(1.724), "none");
  EXPECT_NE(of_more(1.725), "none");  // rounding is on the side of less
  EXPECT_NE(of_more(1.726), "none");
}

// Even lengths and room for an odd number of tokens: no group fills it, a fractional filling does,
// and every even number of tokens is some group.
TEST(ProfileCheck, TooManyGroupsAreNoProof) {
  ScatterInstance many{.name = "many"};
  many.cluster = {.devices = 1, .memory_mib = 100'001, .degrees = {1}};
  many.model = {.states_mib = 0, .activation_mib_per_token = 1};
  many.cost = {.linear_ms = 0, .fixed_ms = 10};
  ProfileNode node{.kind = ProfileNode::Kind::priced};
  for (Tokens length = 1000; length > 900; length -= 2) {
    for (int copies = 0; copies < 3; ++copies) many.lengths.push_back(length);
    node.values.push_back(static_cast<double>(length));
  }
  node.batches.assign(2, {{.group = 100'000.5}});  // two micro-batches, of 10 and 11 ms
  const CertificateCheck check =
      check_certificate(many, {.bound_ms = 21, .profiles = {{std::move(node)}}});
  ASSERT_FALSE(check.violations.empty());
  EXPECT_EQ(check.violations.front().rule, "certificate_pattern");
  EXPECT_EQ(check.violations.front().have, "too many groups to tell");
}

TEST(ProfileCheck, ReadsBackWhatItWrites) {
  for (const ScatterCertificate& certificate : {whole(), halves(50)}) {
    JsonWriter json;
    json.begin_object();
    json.key("certificate");
    write_json(json, certificate);
    json.end_object();
    const auto again = read_scatter_certificate(json.take());
    ASSERT_TRUE(again && *again);
    EXPECT_EQ(complaint(**again), "");
    JsonWriter first;
    JsonWriter second;
    write_json(first, certificate);
    write_json(second, **again);
    EXPECT_EQ(first.take(), second.take());
  }
}

TEST(ProfileCheck, BrokenDocumentsAreRefused) {
  const auto errors_of = [](const std::string& profiles) {
    const auto read = read_scatter_certificate(R"({"certificate": {"bound_ms": 1, "profiles": )" +
                                               profiles + "}}");
    return read ? std::string() : to_string(read.errors().front());
  };
  EXPECT_EQ(errors_of(R"([{"nodes": [{}]}])"), "");
  EXPECT_THAT(errors_of("7"), HasSubstr("E203 /certificate/profiles"));
  EXPECT_THAT(errors_of("[7]"), HasSubstr("E203 /certificate/profiles/0"));
  EXPECT_THAT(errors_of(R"([{"nodes": [{"at_ms": 1}]}])"),
              HasSubstr("E201 /certificate/profiles/0/nodes/0/batch"));
  EXPECT_THAT(errors_of(R"([{"nodes": [{"at_ms": -1, "batch": 0, "below": 1, "above": 2}]}])"),
              HasSubstr("E206 /certificate/profiles/0/nodes/0/at_ms"));
  EXPECT_THAT(errors_of(R"([{"nodes": [{"values_ms": [-1], "batches": []}]}])"),
              HasSubstr("E206 /certificate/profiles/0/nodes/0/values_ms/0"));
  EXPECT_THAT(errors_of(R"([{"nodes": [{"values_ms": [], "batches": [{"degrees": [7]}]}]}])"),
              HasSubstr("E203 /certificate/profiles/0/nodes/0/batches/0/degrees/0"));
}

}  // namespace
}  // namespace stowage::scatter_profile_check_test
