#include "crossilo/data/items.h"

#include <algorithm>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/data/items_text.h"
#include "crossilo/data/utf8.h"

namespace crossilo {
namespace {

constexpr std::string_view kLetters = "tnr\\", kMeant = "\t\n\r\\";

std::string Escaped(std::string_view cell) {
  std::string out;
  for (const char c : cell) {
    const size_t at = kMeant.find(c);
    if (at == std::string_view::npos) {
      out += c;
    } else {
      out += {'\\', kLetters[at]};
    }
  }
  return out;
}

// A backslash before any other letter stands for itself.
std::string Unescaped(std::string_view cell) {
  std::string out;
  for (size_t i = 0; i < cell.size(); ++i) {
    const size_t at = cell[i] == '\\' && i + 1 < cell.size() ? kLetters.find(cell[i + 1])
                                                             : std::string_view::npos;
    if (at == std::string_view::npos) {
      out += cell[i];
    } else {
      out += kMeant[at];
      ++i;
    }
  }
  return out;
}

std::vector<std::string> Cells(std::string_view line, bool escapes) {
  std::vector<std::string> cells;
  while (true) {
    const size_t tab = std::min(line.find('\t'), line.size());
    const std::string_view cell = line.substr(0, tab);
    cells.push_back(escapes ? Unescaped(cell) : std::string(cell));
    if (tab == line.size()) return cells;
    line.remove_prefix(tab + 1);
  }
}

void CheckColumns(const std::vector<std::string>& columns, const std::string& origin) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].empty()) {
      throw Error("{}: column {} has no name; name it in the first line", origin, i + 1);
    }
    if (std::count(columns.begin(), columns.end(), columns[i]) > 1) {
      throw Error("{}: two columns are called '{}'; rename one", origin, columns[i]);
    }
  }
}

}  // namespace

bool Items::Has(std::string_view column) const {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

std::string_view Items::Cell(int64_t row, std::string_view column) const {
  const auto found = std::find(columns.begin(), columns.end(), column);
  const auto at = static_cast<size_t>(found - columns.begin());
  if (row < 0 || row >= static_cast<int64_t>(rows.size()) || at >= rows[row].size()) return "";
  return rows[row][at];
}

Items ParseItems(std::string_view text, const std::string& origin, bool escapes) {
  Items items;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!IsUtf8(line)) {
      throw Error("{}: line {} is not UTF-8; convert the file with iconv", origin, number);
    }
    std::vector<std::string> cells = Cells(line, escapes);
    if (number == 1) {
      CheckColumns(cells, origin);
      items.columns = std::move(cells);
    } else if (cells.size() != items.columns.size()) {
      throw Error("{}: line {} has {} cells but the first line names {} columns", origin, number,
                  cells.size(), items.columns.size());
    } else {
      items.rows.push_back(std::move(cells));
    }
  }
  if (items.columns.empty()) throw Error("{}: is empty; its first line names the columns", origin);
  return items;
}

Items ReadItems(const std::filesystem::path& path) {
  return ParseItems(ReadFile(path), path.string(), true);
}

void WriteItems(const std::filesystem::path& path, const Items& items) {
  CheckColumns(items.columns, path.string());
  std::string out;
  const auto write = [&](const std::vector<std::string>& cells) {
    if (cells.size() != items.columns.size()) {
      throw Error("{}: a row has {} cells but there are {} columns", path.string(), cells.size(),
                  items.columns.size());
    }
    for (size_t i = 0; i < cells.size(); ++i) {
      if (!IsUtf8(cells[i])) throw Error("{}: a cell is not UTF-8", path.string());
      if (i > 0) out += '\t';
      out += Escaped(cells[i]);
    }
    out += '\n';
  };
  write(items.columns);
  for (const auto& row : items.rows) write(row);
  WriteFile(path, out);
}

}  // namespace crossilo
