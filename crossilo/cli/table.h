#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace crossilo {

// The columns of a terminal that UTF-8 text takes: East Asian wide characters
// and emoji take two, a sequence of joined emoji takes what its first one
// takes, combining marks take none.  A byte that is no UTF-8 takes one.
int Columns(std::string_view text);

// What a terminal would obey instead of showing it becomes spaces: Unicode's
// control characters, of which U+0080 to U+009F are C2 80 to C2 9F.
std::string Printable(std::string text);

// Rows under a heading, as text for a terminal or a log file.
//
//   TextTable table({"method", "i2t", "t2i"});
//   table.Row({"fedavg", "0.371", "0.368"});
//   out << table.Text();
//
//   method    i2t    t2i
//   ------  -----  -----
//   fedavg  0.371  0.368
//
// A column whose cells are all numbers (with a sign, a unit, a ±, or empty or
// "-" where there is none) is aligned right, any other left.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headings);

  // A row with fewer cells than there are headings ends in empty ones; more
  // are dropped.  Line ends, tabs and other control characters inside a cell
  // become spaces.
  TextTable& Row(std::vector<std::string> cells);

  // Every line ends in a line end; no line ends in spaces.
  std::string Text() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the headings first
};

}  // namespace crossilo
