#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace crossilo {

// Bytes that are collected before they have a place: in memory while they are
// few, then in a file that has no name, so that a killed process leaves none.
class Spool {
 public:
  // The folder is where such a file would be; empty: always in memory.
  explicit Spool(std::filesystem::path folder = {});
  ~Spool();
  Spool(Spool&& other) noexcept;
  Spool& operator=(Spool&& other) noexcept;

  // Throws Error where the disk is full.  Not after bytes().
  void Append(std::string_view bytes);
  uint64_t size() const { return written_ + buffer_.size(); }
  // Everything, for this object's lifetime.
  std::span<const std::byte> bytes();

 private:
  void Spill();

  std::filesystem::path folder_;
  std::string buffer_;
  int descriptor_ = -1;
  uint64_t written_ = 0;
  void* mapped_ = nullptr;
};

}  // namespace crossilo
