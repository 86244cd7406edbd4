#include "instances/json/document.h"

#include <array>
#include <fstream>
#include <system_error>

#include "instances/json/errors.h"
#include "instances/json/reader.h"

namespace stowage {

Result<std::string> read_text_file(const std::filesystem::path& path) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status)) return unreadable(path.string(), "missing");
  if (!std::filesystem::is_regular_file(status)) {
    return unreadable(path.string(), "a directory or a device");
  }
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (!failure && size > kMaxDocumentBytes) return too_many_bytes(path.string(), kMaxDocumentBytes);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return unreadable(path.string(), "closed to this user");
  return read_text_stream(stream, path.string());
}

Result<std::string> read_text_stream(std::istream& stream, std::string_view name,
                                     std::size_t most_bytes) {
  std::string text;
  std::array<char, 65536> buffer;
  while (stream.read(buffer.data(), buffer.size()) || stream.gcount() > 0) {
    const auto got = static_cast<std::size_t>(stream.gcount());
    if (text.size() + got > most_bytes) return too_many_bytes(name, most_bytes);
    text.append(buffer.data(), got);
  }
  if (stream.bad()) return unreadable(name, "cut short by a read error");
  return text;
}

}  // namespace stowage
