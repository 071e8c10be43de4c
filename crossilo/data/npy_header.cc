#include "crossilo/data/npy_header.h"

#include <charconv>

#include "crossilo/base/error.h"

namespace crossilo {
namespace {

// The text after `'key':` in the Python dict that numpy writes, or "".
std::string_view After(std::string_view dict, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = quote + std::string(key) + quote;
    const size_t at = dict.find(quoted);
    if (at == std::string_view::npos) continue;
    std::string_view rest = dict.substr(at + quoted.size());
    const size_t start = rest.find_first_not_of(": ");
    return start == std::string_view::npos ? std::string_view() : rest.substr(start);
  }
  return {};
}

bool ParseDescr(std::string_view text, std::string& descr) {
  if (text.starts_with('[')) {  // a record: known to be there, not readable
    descr.clear();
    return true;
  }
  if (text.empty() || (text[0] != '\'' && text[0] != '"')) return false;
  const size_t end = text.find(text[0], 1);
  if (end == std::string_view::npos || end < 3) return false;
  descr = text.substr(1, end - 1);
  return true;
}

bool ParseShape(std::string_view text, std::vector<int64_t>& shape) {
  const size_t end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos) return false;
  text = text.substr(1, end - 1);
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view extent = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (extent.starts_with(' ')) extent.remove_prefix(1);
    while (extent.ends_with(' ') || extent.ends_with('L')) extent.remove_suffix(1);
    if (extent.empty() && text.empty()) break;  // (3,)
    const int64_t value = DigitsAt(extent, 0);
    if (value < 0 || shape.size() == 32) return false;
    shape.push_back(value);
  }
  return true;
}

}  // namespace

int64_t DigitsAt(std::string_view text, size_t at) {
  int64_t value = -1;
  if (at >= text.size() || text[at] < '0' || text[at] > '9') return -1;
  const auto [end, failed] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size() ? value : -1;
}

NpyHead ParseNpyHead(std::span<const std::byte> bytes, const std::string& origin) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with("\x93NUMPY") || text.size() < 12) {
    throw Error("{}: not a .npy file; make it with numpy.save", origin);
  }
  const int version = static_cast<unsigned char>(text[6]);
  if (version < 1 || version > 3) {
    throw Error("{}: is a .npy of version {}; save it again with an older numpy", origin, version);
  }
  const size_t width = version == 1 ? 2 : 4;
  size_t size = 0;
  for (size_t i = 0; i < width; ++i) {
    size |= static_cast<size_t>(static_cast<unsigned char>(text[8 + i])) << (8 * i);
  }
  NpyHead head;
  head.data_at = 8 + width + size;
  if (head.data_at > text.size()) {
    throw Error("{}: ends within its header; it is damaged, copy it again", origin);
  }
  const std::string_view dict = text.substr(8 + width, size);
  const std::string_view order = After(dict, "fortran_order");
  head.fortran_order = order.starts_with("True");
  if (!ParseDescr(After(dict, "descr"), head.descr) ||
      !(head.fortran_order || order.starts_with("False")) ||
      !ParseShape(After(dict, "shape"), head.shape)) {
    throw Error("{}: its header is not numpy's; it is damaged, copy it again", origin);
  }
  return head;
}

}  // namespace crossilo
