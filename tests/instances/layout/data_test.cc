// The bundled layouts agree with their tables and their own members.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "instances/layout/json/json.h"
#include "instances/layout/load.h"
#include "tests/instances/json_fixture.h"

namespace stowage::layout_data_test {
namespace {

std::vector<std::filesystem::path> bundled(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kInstancesDir / "data" / folder)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The text between `key` and the end of its line, without a comma.
std::string line_after(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return "";
  std::string line = text.substr(at + key.size(), text.find('\n', at) - at - key.size());
  if (!line.empty() && line.back() == ',') line.pop_back();
  return line;
}

Bytes load(const LayoutInstance& instance) {  // the plain sum, without alignment
  LayoutInstance bytes = instance;
  bytes.alignment = 1;
  for (Buffer& buffer : bytes.buffers) buffer.alignment = 1;
  return peak_load(bytes).load;
}

TEST(BundledLayouts, AreWhatTheTablesSay) {
  const std::string readme = file_text(kDocsDir / "benchmarks/instances.md");
  std::size_t seen = 0;
  for (const char* folder : {"layout/tiny", "layout/real"}) {
    for (const auto& path : bundled(folder)) {
      ++seen;
      const std::string text = file_text(path);
      const auto instance = read_layout_instance(text);
      ASSERT_TRUE(instance) << path << ": " << to_string(instance.errors()[0]);
      EXPECT_EQ(instance->name + ".json", path.filename().string());
      std::string optimum = line_after(text, "\"x-optimal_bytes\": ");
      if (line_after(text, "\"x-infeasible\": ") == "true") optimum = "infeasible";
      std::string row = "| `" + instance->name + "` | " + std::to_string(instance->buffers.size()) +
                        " | " + std::to_string(load(*instance)) + " | " + optimum + " |";
      std::string note = line_after(text, "\"x-note\": ");
      if (!note.empty()) row += ' ' + note.substr(1, note.size() - 2) + " |";
      EXPECT_NE(readme.find('\n' + row + '\n'), std::string::npos) << row;
    }
  }
  EXPECT_EQ(seen, 30U);
}

TEST(BundledLayouts, NoOptimumIsBelowTheLoad) {
  for (const char* folder : {"layout/tiny", "layout/real"}) {
    for (const auto& path : bundled(folder)) {
      const std::string text = file_text(path);
      const auto instance = read_layout_instance(text);
      ASSERT_TRUE(instance);
      const std::string optimum = line_after(text, "\"x-optimal_bytes\": ");
      if (optimum.empty()) continue;
      EXPECT_GE(std::stoll(optimum), peak_load(*instance).load) << path;
      EXPECT_FALSE(layout_infeasibility(*instance)) << path;
    }
  }
}

TEST(BundledLayouts, TheInfeasibleOnesSayWhy) {
  int proven = 0;
  int subtle = 0;
  for (const auto& path : bundled("layout/tiny")) {
    const std::string text = file_text(path);
    if (line_after(text, "\"x-infeasible\": ") != "true") continue;
    const auto instance = read_layout_instance(text);
    ASSERT_TRUE(instance);
    (layout_infeasibility(*instance) ? proven : subtle) += 1;
  }
  EXPECT_EQ(proven, 3);  // clashing pins, a pin and a load above the capacity
  EXPECT_EQ(subtle, 1);  // only a search detects it
}

}  // namespace
}  // namespace stowage::layout_data_test
