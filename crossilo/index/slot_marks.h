#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace crossilo {

// A set of slots, filled in any order and read in ascending order: a bit a
// slot, and above it a bit a word of these, so that reading skips what is empty.
// Its memory stays for the next use.
class SlotMarks {
 public:
  // All slots below size can be marked.
  void MakeRoom(int64_t size) {
    marks_.resize(static_cast<size_t>(size / 64 + 1));
    words_.resize(static_cast<size_t>(size / 4096 + 1));
  }

  void Mark(std::span<const uint32_t> slots) {
    // Pointers of its own: the compiler must take it that marks overwrite the
    // members.
    uint64_t *const marks = marks_.data(), *const words = words_.data();
    for (uint32_t slot : slots) {
      marks[slot / 64] |= uint64_t{1} << slot % 64;
      words[slot / 4096] |= uint64_t{1} << slot / 64 % 64;
    }
  }

  // Calls use(slots) with stretches of the marked ones, and forgets them.
  template <class Use>
  void Take(Use use) {
    uint64_t* const marks = marks_.data();
    std::array<uint32_t, 512> slots;
    size_t count = 0;
    for (size_t g = 0; g < words_.size(); ++g) {
      for (uint64_t words = std::exchange(words_[g], 0); words != 0; words &= words - 1) {
        const size_t w = g * 64 + static_cast<size_t>(std::countr_zero(words));
        count += Unpack(std::exchange(marks[w], 0), static_cast<uint32_t>(64 * w), &slots[count]);
        if (count + 64 > slots.size()) {
          use(std::span<const uint32_t>(slots).first(count));
          count = 0;
        }
      }
    }
    use(std::span<const uint32_t>(slots).first(count));
  }

 private:
  // Writes the set bits' numbers and some more, at most 64 in all; returns how
  // many are set.  Four at a time: to ask after each whether it was the last
  // costs more than to write what is not needed.
  static size_t Unpack(uint64_t word, uint32_t first, uint32_t* out) {
    size_t count = 0;
    for (uint32_t* next = out; word != 0; next += 4) {
      for (size_t j = 0; j < 4; ++j, word &= word - 1) {
        next[j] = first + static_cast<uint32_t>(std::countr_zero(word));
        count += word != 0;
      }
    }
    return count;
  }

  std::vector<uint64_t> marks_, words_;
};

}  // namespace crossilo
