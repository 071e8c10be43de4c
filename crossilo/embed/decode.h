#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "crossilo/embed/picture.h"

namespace crossilo {

// Decodes PNG (transparency on white), JPEG (turned as its EXIF says) and
// WebP.  Throws Error on anything else, on damage the decoder finds and on
// absurd sizes; `origin` stands in errors for the file.  In a build without
// OpenCV it throws Error naming the package.  Safe to call from many threads.
Picture DecodePicture(std::string_view bytes, const std::string& origin);
Picture ReadPicture(const std::filesystem::path& path);

// False in a build without OpenCV.
bool CanDecodePictures();

}  // namespace crossilo
