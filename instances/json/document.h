// JSON in and out. The format is in instances/README.md, with the index of all error codes.
//
//   Result<ScatterInstance> instance = read_scatter_instance(text, "instances/data/scatter/tiny");
//   if (!instance) complain(instance.errors());
//   else std::cout << write_scatter_instance(*instance);
//
// Reading is strict: unknown or duplicate keys, fractions where integers belong, numbers beyond
// 2^53 and anything out of its stated range are errors. All errors of a document come in one list,
// each with a JSON pointer; only broken JSON syntax ends the reading early.
// Writing is stable: the same value gives the same bytes, and reading them gives the value back.
//
// Thread safety: any number of threads may read and write documents at once; a stream belongs to
// the call that reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "instances/assign/certificate.h"
#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/layout/instance.h"
#include "instances/layout/plan.h"
#include "instances/result.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"

namespace stowage {

inline constexpr std::size_t kMaxDocumentBytes = std::size_t{1} << 29;  // of a file or of stdin
inline constexpr std::int64_t kMaxSequences = 10'000'000;               // elements of any array
inline constexpr std::int64_t kMaxValues = 40'000'000;                  // of one document
inline constexpr std::int64_t kMaxContainers = 4'000'000;  // arrays and objects of one document
inline constexpr std::int64_t kMaxTexts = 10'000'000;      // keys and strings of one document
inline constexpr std::int64_t kMaxBuffers = 1'000'000;     // of a layout instance
inline constexpr std::int64_t kMaxSchemes = 1000;          // of an assign instance
inline constexpr std::int64_t kMaxStrategies = 10'000;     // of an assign instance
inline constexpr int kMaxStages = 1024;                    // of a pipeline
inline constexpr int kMaxRetainedChunks = 1'000'000;       // of a sequence
inline constexpr std::int64_t kMaxChunkBytes = 1000;       // of a token, per hidden unit
inline constexpr std::int64_t kMaxParts = 500'000;         // that a step's sequences are cut into
inline constexpr int kMaxDepth = 64;                       // the outermost object has depth 1
inline constexpr int kMaxDevices = 1'000'000;
inline constexpr Tokens kMaxPadMultiple = Tokens{1} << 30;

// What a document says of itself.
struct Head {
  std::string format;  // "stowage/instance", "stowage/plan" or "stowage/outcome"
  int version = 0;     // 1
  std::string problem;
  std::string name;  // empty if the document has none

  bool operator==(const Head&) const = default;
};

// Peeks at the head, so that the caller knows which reader to use. Reads no further than it must:
// a document whose head is fine may still be broken. The head is checked: an unknown format,
// version or problem is an error that names the known ones.
Result<Head> read_head(std::string_view text);

// The bytes of a file of at most kMaxDocumentBytes; E107 or E110 pointing at the path otherwise.
// The size is checked before memory is taken. Directories, devices and pipes are refused.
Result<std::string> read_text_file(const std::filesystem::path& path);

// The rest of a stream, for instance of stdin, called `name` in errors. Reads no further than the
// limit.
Result<std::string> read_text_stream(std::istream& stream, std::string_view name,
                                     std::size_t most_bytes = kMaxDocumentBytes);

// `base_dir` is where {"file": "lengths.txt"} is looked up; empty means the current directory.
Result<ScatterInstance> read_scatter_instance(std::string_view text,
                                              const std::filesystem::path& base_dir = {});

Result<AssignInstance> read_assign_instance(std::string_view text,
                                            const std::filesystem::path& base_dir = {});

Result<LayoutInstance> read_layout_instance(std::string_view text);

// Reads a stowage/plan, or the plan inside a stowage/outcome (E211 if that has none). Checks types
// and ranges only: whether the plan fits an instance is what verify() says.
Result<ScatterPlan> read_scatter_plan(std::string_view text);
Result<AssignPlan> read_assign_plan(std::string_view text);
Result<LayoutPlan> read_layout_plan(std::string_view text);

// Reads the certificate inside a stowage/outcome; nothing if it has none, or for a stowage/plan,
// which never has one. Checks types and ranges only: check_certificate() says whether it holds.
Result<std::optional<ScatterCertificate>> read_scatter_certificate(std::string_view text);
Result<std::optional<AssignCertificate>> read_assign_certificate(std::string_view text);

// Every field, defaults included; lengths inline. Ends with a newline.
std::string write_scatter_instance(const ScatterInstance& instance);
std::string write_scatter_plan(const ScatterPlan& plan);
std::string write_assign_instance(const AssignInstance& instance);
std::string write_assign_plan(const AssignPlan& plan);

// The same, but one line per buffer and without what a buffer has by default.
std::string write_layout_instance(const LayoutInstance& instance);
std::string write_layout_plan(const LayoutPlan& plan);

// "fnv1a64:" and 16 hexadecimal digits: equal for two instances that mean the same, whatever their
// names, layouts and x- keys. Not cryptographic: it catches mix-ups, not malice.
std::string instance_hash(const ScatterInstance& instance);
std::string instance_hash(const AssignInstance& instance);
std::string instance_hash(const LayoutInstance& instance);

}  // namespace stowage
