#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace crossilo {

// Bytes aligned as a mapped file's.
class Aligned {
 public:
  explicit Aligned(const std::string& bytes) : memory_(bytes.size() + 64), size_(bytes.size()) {
    begin_ = memory_.data() + 63 - (reinterpret_cast<uintptr_t>(memory_.data()) + 63) % 64;
    std::memcpy(begin_, bytes.data(), size_);
  }
  std::span<const std::byte> bytes() const { return {begin_, size_}; }

 private:
  std::vector<std::byte> memory_;
  std::byte* begin_ = nullptr;
  size_t size_;
};

}  // namespace crossilo
