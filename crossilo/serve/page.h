#pragma once

#include <span>
#include <string_view>

namespace crossilo {

// The page's own files, compiled in from crossilo/serve/page/.
struct PageFile {
  std::string_view path;  // "/" for index.html, else its name: "/page.css", "/openapi.json"
  std::string_view type;  // "text/html; charset=utf-8"
  std::string_view content;
};

// All of them, by name.
std::span<const PageFile> PageFiles();

// Null where there is no such file.
const PageFile* FindPageFile(std::string_view path);

}  // namespace crossilo
