#include "kernels/attention/simd/isa.h"

#include <atomic>
#include <cstdlib>
#include <stdexcept>

#include "kernels/attention/simd/table.h"

namespace stowage::kernels {

#if defined(__x86_64__)
extern const SimdTable simd_table_v2, simd_table_v3, simd_table_v4;
#else
extern const SimdTable simd_table_portable;
#endif

namespace {

// Returns whether the machine and its operating system support the instructions of
// -march=x86-64-vN. The function does not test LZCNT, MOVBE, F16C and CMPXCHG16B, since every
// machine with the tested bits has them.
#if defined(__x86_64__)
bool machine_has(std::string_view level) {
  __builtin_cpu_init();
  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") &&
                  __builtin_cpu_supports("popcnt");
  const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return level == "v2" ? v2 : level == "v3" ? v3 : v4;
}
#endif

// Returns the tables that are compiled in and that the machine supports, the narrowest vectors
// first.
std::vector<const SimdTable*> usable_tables() {
#if defined(__x86_64__)
  std::vector<const SimdTable*> tables;
  for (const SimdTable* table : {&simd_table_v2, &simd_table_v3, &simd_table_v4}) {
    if (machine_has(table->name)) tables.push_back(table);
  }
  return tables;
#else
  return {&simd_table_portable};
#endif
}

const SimdTable* find(std::string_view level) {
  for (const SimdTable* table : usable_tables()) {
    if (table->name == level) return table;
  }
  return nullptr;
}

const char* asked_for() {
  const char* text = std::getenv("STOWAGE_ISA");
  return text == nullptr || *text == '\0' ? nullptr : text;
}

std::atomic<const SimdTable*> chosen = nullptr;

}  // namespace

std::vector<std::string> isa_levels() {
  std::vector<std::string> names;
  for (const SimdTable* table : usable_tables()) names.emplace_back(table->name);
  return names;
}

std::string isa_problem() {
  const std::vector<std::string> levels = isa_levels();
  if (levels.empty()) return "kernels need a machine of level x86-64-v2 (SSE4.2) at least";
  const char* asked = asked_for();
  if (asked == nullptr || find(asked) != nullptr) return "";
  std::string problem = "must be ";
  for (std::size_t i = 0; i < levels.size(); ++i) {
    problem += (i == 0 ? "" : i + 1 < levels.size() ? ", " : " or ") + levels[i];
  }
  return problem + " on this machine, is " + asked;
}

const SimdTable& simd_table() {
  if (const SimdTable* table = chosen.load(std::memory_order_acquire)) return *table;
  if (const std::string problem = isa_problem(); !problem.empty()) {
    throw std::runtime_error("STOWAGE_ISA: " + problem);
  }
  const char* asked = asked_for();
  const SimdTable* table = asked != nullptr ? find(asked) : usable_tables().back();
  chosen.store(table, std::memory_order_release);
  return *table;
}

bool use_isa(std::string_view level) {
  const SimdTable* table = find(level);
  if (table != nullptr) chosen.store(table, std::memory_order_release);
  return table != nullptr;
}

}  // namespace stowage::kernels
