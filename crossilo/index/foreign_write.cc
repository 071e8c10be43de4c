#include <algorithm>
#include <string>
#include <utility>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/index/foreign.h"

namespace crossilo {
namespace {

constexpr uint32_t kMetric = 1;  // faiss's default, which binary indexes do not look at

void PutNumber(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

std::string HeaderBytes(std::string type, const PackedCodes& codes) {
  PutNumber(type, static_cast<uint64_t>(codes.bits()), 4);
  PutNumber(type, static_cast<uint64_t>(codes.bits() / 8), 4);
  PutNumber(type, static_cast<uint64_t>(codes.size()), 8);
  PutNumber(type, 1, 1);
  PutNumber(type, kMetric, 4);
  return type;
}

// Calls add(piece, i) for every i below count and hands pieces of some size on.
template <typename Add>
void PutPieces(const Put& put, int64_t count, const Add& add) {
  constexpr size_t kPiece = 1 << 20;
  std::string piece;
  for (int64_t i = 0; i < count; ++i) {
    add(piece, i);
    if (piece.size() >= kPiece) {
      put(piece);
      piece.clear();
    }
  }
  put(piece);
}

void PutFlat(const Put& put, const PackedCodes& codes) {
  const int code_bytes = codes.bits() / 8;
  std::string head = HeaderBytes("IBxF", codes);
  PutNumber(head, static_cast<uint64_t>(codes.size()) * code_bytes, 8);
  put(head);
  PutPieces(put, codes.size(), [&](std::string& piece, int64_t i) {
    const auto words = codes.Code(i);
    for (int b = 0; b < code_bytes; b += 8) {
      PutNumber(piece, words[b / 8], std::min(8, code_bytes - b));
    }
  });
}

void PutIds(const Put& put, const std::vector<int64_t>& ids) {
  std::string length;
  PutNumber(length, ids.size(), 8);
  put(length);
  PutPieces(put, static_cast<int64_t>(ids.size()), [&](std::string& piece, int64_t i) {
    PutNumber(piece, static_cast<uint64_t>(ids[i]), 8);
  });
}

}  // namespace

void WriteFaiss(const std::filesystem::path& path, const ForeignCodes& codes) {
  if (codes.codes.bits() == 0) throw Error("{}: codes of 0 bits cannot be written", path.string());
  const bool with_ids = !codes.ids.empty();
  if (with_ids && std::cmp_not_equal(codes.ids.size(), codes.codes.size())) {
    throw Error("{}: {} ids for {} codes; give each one", path.string(), codes.ids.size(),
                codes.codes.size());
  }
  for (const int64_t id : codes.ids) {
    if (id < 0) throw Error("{}: an id is {}; ids must not be negative", path.string(), id);
  }
  WriteFile(path, [&](const Put& put) {
    if (with_ids) put(HeaderBytes("IBMp", codes.codes));
    PutFlat(put, codes.codes);
    if (with_ids) PutIds(put, codes.ids);
  });
}

}  // namespace crossilo
