#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace crossilo {

// One bit a slot.  Bits at and above size() are zero.
class Bitmap {
 public:
  Bitmap() = default;
  explicit Bitmap(int64_t size, bool value = false)
      : size_(size), words_((size + 63) / 64, value ? ~uint64_t{0} : 0) {
    if (value && size % 64 != 0) words_.back() >>= 64 - size % 64;
  }

  int64_t size() const { return size_; }
  bool Has(int64_t i) const { return words_[i / 64] >> (i % 64) & 1; }
  void Set(int64_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void Clear(int64_t i) { words_[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  // Makes room for one more.
  void Append(bool value) {
    if (size_ % 64 == 0) words_.push_back(0);
    if (value) Set(size_);
    ++size_;
  }
  // Keeps what both have; sizes must be equal.
  void And(const Bitmap& other) {
    for (size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
  }

  int64_t Count() const {
    int64_t count = 0;
    for (uint64_t word : words_) count += std::popcount(word);
    return count;
  }
  std::span<const uint64_t> words() const { return words_; }

  bool operator==(const Bitmap&) const = default;

 private:
  int64_t size_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace crossilo
