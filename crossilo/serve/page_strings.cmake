# Writes OUT, a C++ file with one row of page.cc's table for each of FILES.
cmake_minimum_required(VERSION 3.25)
set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_json "application/json")
set(type_svg "image/svg+xml")

set(rows "")
foreach(file IN LISTS FILES)
  cmake_path(GET file FILENAME name)
  cmake_path(GET file EXTENSION LAST_ONLY extension)
  string(REPLACE "." "" extension "${extension}")
  if(NOT DEFINED type_${extension})
    message(FATAL_ERROR "${file}: page_strings.cmake knows no type for '${extension}'; add one")
  endif()
  file(READ "${file}" content)
  string(FIND "${content}" ")page_string\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${file}: holds the mark that ends a string here; change the mark")
  endif()
  set(path "/${name}")
  if(name STREQUAL "index.html")
    set(path "/")
  endif()
  string(APPEND rows
    "    {\"${path}\", \"${type_${extension}}\", R\"page_string(${content})page_string\"sv},\n")
endforeach()

file(WRITE "${OUT}.new" "#include \"crossilo/serve/page.h\"

namespace crossilo {

using namespace std::string_view_literals;

static constexpr PageFile kFiles[] = {
${rows}};

std::span<const PageFile> PageFiles() { return kFiles; }

}  // namespace crossilo
")
file(RENAME "${OUT}.new" "${OUT}")
