#include <algorithm>
#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/data/describe.h"

namespace crossilo {
namespace {

// Grey and blue of middle lightness stand out from white and from black; the
// media query only sharpens them where the viewer tells us.
constexpr const char* kStyle =
    "<style>text{font:11px system-ui,sans-serif;fill:#6e7781}"
    ".t{font-size:14px;font-weight:600}circle{fill:#3b82c4}line{stroke:#808080;opacity:.3}"
    "@media(prefers-color-scheme:dark){text{fill:#b1bac4}circle{fill:#5aa2e0}}</style>\n";

std::string Escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // Other control characters are not allowed in XML at all.
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

// At most `most` code points, so that a long name cannot push the rest away.
std::string Shortened(const std::string& text, size_t most) {
  size_t points = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;
    if (++points > most) return text.substr(0, i) + "…";
  }
  return text;
}

class Chart {
 public:
  explicit Chart(const Description& d) : d_(d) {
    for (const auto& row : d.counts) {
      for (int64_t count : row) most_ = std::max(most_, count);
    }
    cell_ = d.classes.size() > 40 ? 14 : 26;
    right_ = kLeft + cell_ * static_cast<double>(d.classes.size());
    bottom_ = kTop + cell_ * static_cast<double>(d.rows.size());
  }

  std::string Draw() {
    const double width = std::max(right_ + 130, 420.0), height = bottom_ + 80;
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
        "height=\"{1:g}\" role=\"img\">\n",
        width, height);
    out_ += fmt::format("<title>{}: samples of each {} and class</title>\n", Escaped(d_.name),
                        d_.row_word);
    out_ += kStyle;
    Text(10, 22,
         fmt::format("{}: {} samples, {} classes, {} {}s", d_.name, d_.samples, d_.classes.size(),
                     d_.rows.size(), d_.row_word),
         "class=\"t\"");
    Columns();
    for (size_t i = 0; i < d_.rows.size(); ++i) Row(i);
    Legend();
    return out_ + "</svg>\n";
  }

 private:
  static constexpr double kLeft = 130, kTop = 130;

  void Text(double x, double y, const std::string& text, const std::string& extra) {
    out_ += fmt::format("<text x=\"{:g}\" y=\"{:g}\" {}>{}</text>\n", x, y, extra, Escaped(text));
  }

  double Radius(int64_t count) const {
    const double share = static_cast<double>(count) / static_cast<double>(most_);
    return std::max(0.8, (cell_ / 2 - 1) * std::sqrt(share));
  }

  void Disc(double x, double y, int64_t count, const std::string& title) {
    out_ += fmt::format("<circle cx=\"{:g}\" cy=\"{:g}\" r=\"{:.2f}\"><title>{}</title></circle>\n",
                        x, y, Radius(count), Escaped(title));
  }

  void Columns() {
    for (size_t c = 0; c < d_.classes.size(); ++c) {
      const double x = kLeft + cell_ * (static_cast<double>(c) + 0.5);
      out_ += fmt::format("<line x1=\"{0:g}\" x2=\"{0:g}\" y1=\"{1:g}\" y2=\"{2:g}\"/>\n", x, kTop,
                          bottom_);
      Text(x + 3, kTop - 6, Shortened(d_.classes[c], 18),
           fmt::format("transform=\"rotate(-60 {:g} {:g})\"", x + 3, kTop - 6));
    }
    Text(right_ + 60, kTop - 6, "total", "text-anchor=\"end\"");
    if (!d_.classes.empty()) Text(right_ + 115, kTop - 6, "classes", "text-anchor=\"end\"");
  }

  void Row(size_t i) {
    const double y = kTop + cell_ * (static_cast<double>(i) + 0.5);
    out_ += fmt::format("<line x1=\"{:g}\" x2=\"{:g}\" y1=\"{:g}\" y2=\"{:g}\"/>\n", kLeft, right_,
                        y, y);
    Text(kLeft - 8, y + 4, Shortened(d_.rows[i], 18), "text-anchor=\"end\"");
    for (size_t c = 0; c < d_.classes.size(); ++c) {
      if (d_.counts[i][c] == 0) continue;
      Disc(kLeft + cell_ * (static_cast<double>(c) + 0.5), y, d_.counts[i][c],
           fmt::format("{}, {}: {}", d_.rows[i], d_.classes[c], d_.counts[i][c]));
    }
    Text(right_ + 60, y + 4, std::to_string(d_.totals[i]), "text-anchor=\"end\"");
    if (!d_.classes.empty()) {
      Text(right_ + 115, y + 4, std::to_string(d_.present[i]), "text-anchor=\"end\"");
    }
  }

  void Legend() {
    if (d_.classes.empty() || most_ == 0) return;
    const double y = bottom_ + 30;
    double x = kLeft + 10;
    Text(kLeft - 8, y + 4, "samples", "text-anchor=\"end\"");
    int64_t last = 0;
    for (int64_t count : {(most_ + 15) / 16, (most_ + 3) / 4, most_}) {
      if (count == last) continue;
      last = count;
      Disc(x, y, count, std::to_string(count));
      Text(x + cell_ / 2 + 4, y + 4, std::to_string(count), "");
      x += 80;
    }
    if (d_.row_word == "silo") {
      Text(kLeft, bottom_ + 60,
           fmt::format("imbalance {:.3f} (0: every silo has the same class mix)", d_.imbalance),
           "");
    }
  }

  const Description& d_;
  int64_t most_ = 0;
  double cell_ = 26, right_ = 0, bottom_ = 0;
  std::string out_;
};

}  // namespace

std::string DescribeSvg(const Description& description) { return Chart(description).Draw(); }

}  // namespace crossilo
