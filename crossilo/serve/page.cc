#include "crossilo/serve/page.h"

#include <algorithm>

namespace crossilo {

const PageFile* FindPageFile(std::string_view path) {
  const auto files = PageFiles();
  const auto file = std::ranges::find(files, path, &PageFile::path);
  return file == files.end() ? nullptr : &*file;
}

}  // namespace crossilo
