// The bundled models equal the output of `stowage export` for the instances in their table, and
// their best known values are above their bounds.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/process.h"
#include "tests/tree/source_files.h"

namespace stowage::models_bundled_models_test {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(STOWAGE_SOURCE_DIR) / "instances/data/models";

struct Row {
  std::string file;
  double best = 0;
  double bound = 0;
  std::string bundled;  // path of the bundled instance, relative to the table's folder
  std::vector<std::string> generated;  // or the arguments that generate it
};

std::vector<Row> table() {
  static const std::regex line(
      R"(\| \[([^\]]+)\]\([^)]+\) \| \d+ \| \d+ \| ([^ |]+) \| ([^ |]+) \| (?:\[bundled\]\(([^)]+)\)|`stowage ([^`]+)`) \|)");
  std::vector<Row> rows;
  for (const std::string& text : lines_of(read_text(kFolder / "README.md"))) {
    std::smatch found;
    if (!std::regex_match(text, found, line)) continue;
    Row row{.file = found[1],
            .best = std::stod(found[2]),
            .bound = std::stod(found[3]),
            .bundled = found[4]};
    std::istringstream words(found[5]);
    for (std::string word; words >> word;) row.generated.push_back(word);
    rows.push_back(row);
  }
  return rows;
}

TEST(BundledModels, AreWhatExportWrites) {
  const std::vector<Row> rows = table();
  EXPECT_GE(rows.size(), 30U);
  const TempDir dir;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.file);
    EXPECT_LE(row.bound, row.best);
    fs::path instance = kFolder / row.bundled;
    if (row.bundled.empty()) {
      instance = dir.path() / "instance.json";
      std::vector<std::string> words = row.generated;
      words.insert(words.end(), {"-o", instance.string()});
      ASSERT_EQ(run_stowage(words, {.directory = STOWAGE_SOURCE_DIR}).exit_code, 0);
    }
    const std::string model = (dir.path() / "model.mps").string();
    std::vector<std::string> words = {"export", instance.string(), "-o", model};
    for (const char* flag : {"published", "exact"}) {
      if (row.file.ends_with(std::string("-") + flag + ".mps.gz")) {
        words.push_back(std::string("--") + flag);
      }
    }
    ASSERT_EQ(run_stowage(words).exit_code, 0);
    const Finished unpacked =
        run_stowage({"-dc", (kFolder / row.file).string()}, {.command = {"/bin/gzip"}});
    EXPECT_EQ(unpacked.exit_code, 0) << unpacked.err;
    EXPECT_TRUE(unpacked.out == read_text(model)) << "run bench/peers/bundle.py";
  }
}

}  // namespace
}  // namespace stowage::models_bundled_models_test
