#include <algorithm>
#include <charconv>

#include "crossilo/serve/http.h"
#include "crossilo/serve/text.h"

namespace crossilo {
namespace {

// Of a chunk's size line and of all trailers; nobody needs either.
constexpr size_t kLongestLine = 256, kLongestTrailer = 4096;

}  // namespace

void ChunkReader::ReadSize(std::string_view line) {
  line = line.substr(0, line.find(';'));
  while (line.ends_with(' ') || line.ends_with('\t')) line.remove_suffix(1);
  const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), left_, 16);
  if (line.empty() || error == std::errc::invalid_argument || stop != line.data() + line.size()) {
    throw HttpError(400, "a chunk of the body has no size");
  }
  if (error != std::errc() || left_ > most_ - total_) throw HttpError(413, "the body is too long");
  total_ += left_;
  state_ = left_ == 0 ? State::kTrailer : State::kContent;
}

size_t ChunkReader::Read(std::string_view bytes, std::string& body) {
  size_t used = 0;
  while (state_ != State::kDone) {
    std::string_view rest = bytes.substr(used);
    if (state_ == State::kContent) {
      const size_t taken = std::min(left_, rest.size());
      body.append(rest, 0, taken);
      used += taken;
      left_ -= taken;
      if (left_ > 0) return used;
      state_ = State::kContentEnd;
      continue;
    }
    const size_t end = rest.find("\r\n");
    if (end == std::string_view::npos || end > kLongestLine) {
      if (rest.size() > kLongestLine) throw HttpError(400, "a chunk of the body has no end");
      return used;
    }
    const std::string_view line = rest.substr(0, end);
    used += end + 2;
    // Where a line ends must not be a matter of opinion.
    if (std::ranges::any_of(line, IsControl)) {
      throw HttpError(400, "the body's chunks have control characters");
    }
    if (state_ == State::kSize) {
      ReadSize(line);
    } else if (state_ == State::kContentEnd) {
      if (!line.empty()) throw HttpError(400, "a chunk of the body is longer than it says");
      state_ = State::kSize;
    } else {
      if (!line.empty() && line.find(':') == std::string_view::npos) {
        throw HttpError(400, "a trailer of the body is not NAME: VALUE");
      }
      trailer_ += end;
      if (trailer_ > kLongestTrailer) throw HttpError(431, "the body's trailers are too long");
      if (line.empty()) state_ = State::kDone;
    }
  }
  return used;
}

}  // namespace crossilo
