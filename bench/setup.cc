// Reads properties of the machine and the build, as far as the system reports them.
#include <sys/utsname.h>
#include <unistd.h>

#include <cmath>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <thread>

#include "bench/record.h"
#include "solvers/milp/solver.h"

namespace stowage::bench {
namespace {

// Returns the value of the first line "key : value" of a /proc file, or an empty string.
std::string proc_value(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

// Many processors of one vendor have the same name, so family and model are added: "AMD EPYC,
// family 25 model 17".
std::string cpu_name() {
  const auto value = [](const char* key) { return proc_value("/proc/cpuinfo", key); };
  const std::string family = value("cpu family"), model = value("model\t");
  return value("model name") + (family.empty() ? "" : ", family " + family + " model " + model);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  char text[16];
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return std::string(text, length);
}

double memory_gib() {
  const double bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  return std::round(bytes / (1 << 30) * 10) / 10;
}

std::string kernel() {
  utsname names = {};
  if (uname(&names) != 0) return "";
  return std::string(names.sysname) + ' ' + names.release + ' ' + names.machine;
}

}  // namespace

Setup this_setup(const std::string& commit) {
  Setup setup{.date = today(),
              .commit = commit,
              .cpu = cpu_name(),
              .cores = static_cast<std::int64_t>(std::thread::hardware_concurrency()),
              .memory_gib = memory_gib(),
              .system = kernel(),
#ifdef __clang__
              .compiler = "clang " __clang_version__ " " STOWAGE_BUILD_TYPE
#else
              .compiler = "g++ " __VERSION__ " " STOWAGE_BUILD_TYPE
#endif
  };
  for (const MilpBackend backend : built_backends()) {
    setup.backends += (setup.backends.empty() ? "" : ", ") + std::string(name(backend));
  }
  return setup;
}

std::string setup_line(const Setup& setup) {
  std::ostringstream text;
  text << setup.date << ", commit " << (setup.commit.empty() ? "unknown" : setup.commit) << ", "
       << setup.cpu << " (" << setup.cores << " cores, " << std::fixed << std::setprecision(1)
       << setup.memory_gib << " GiB), " << setup.system << ", " << setup.compiler << ", MILP by "
       << (setup.backends.empty() ? "nobody" : setup.backends) << '\n';
  return text.str();
}

}  // namespace stowage::bench
