#include "crossilo/base/error.h"
#include "crossilo/embed/decode.h"

namespace crossilo {

Picture DecodePicture(std::string_view, const std::string& origin) {
  throw Error(
      "{}: this build cannot decode pictures; install libopencv-imgcodecs-dev and build "
      "again",
      origin);
}

Picture ReadPicture(const std::filesystem::path& path) { return DecodePicture("", path.string()); }

bool CanDecodePictures() { return false; }

}  // namespace crossilo
