#include "crossilo/serve/pictures.h"

#include <algorithm>
#include <filesystem>

#include "crossilo/serve/facts.h"
#include "crossilo/serve/searcher.h"

namespace crossilo {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

std::string_view PictureType(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1A\n"sv)) return "image/png";
  if (bytes.starts_with("\xFF\xD8\xFF"sv)) return "image/jpeg";
  if (bytes.starts_with("RIFF"sv) && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP"sv) {
    return "image/webp";
  }
  return "";
}

fs::path Site::PictureOf(const Item& item) const {
  const Facts facts = ReadFacts(item.facts);
  if (facts.picture.empty() || facts.picture.find('\0') != std::string::npos) return {};
  if (facts.source < 0 || facts.source >= std::ssize(sources_)) return {};
  std::error_code error;
  const fs::path source = fs::canonical(sources_[facts.source], error);
  if (error) return {};
  // Resolves links and "..": what is inside now is inside.
  const fs::path file = fs::weakly_canonical(source / facts.picture, error);
  if (error) return {};
  const auto [end, rest] = std::ranges::mismatch(source, file);
  if (end != source.end() || rest == file.end()) return {};
  return fs::is_regular_file(file, error) ? file : fs::path();
}

}  // namespace crossilo
