#include "crossilo/serve/page_collection.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"

namespace crossilo {
namespace {

// A PNG of one red dot.
constexpr unsigned char kDotBytes[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
    0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00,
    0x00, 0x90, 0x77, 0x53, 0xde, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78,
    0xda, 0x63, 0xb8, 0xa0, 0xa0, 0x00, 0x00, 0x02, 0xd4, 0x01, 0x11, 0xf2, 0xa2, 0x0c,
    0xfa, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
};
const std::string kDot(std::begin(kDotBytes), std::end(kDotBytes));

constexpr const char* kKinds[] = {"cat", "dog", "bird", "odd"};

// Ten bits of its own for each kind.
uint64_t KindCode(int kind) { return uint64_t{0x3ff} << (10 * kind); }

std::vector<std::byte> Row(uint64_t code) {
  std::vector<std::byte> row(8);
  for (int i = 0; i < 8; ++i) row[i] = static_cast<std::byte>(code >> (8 * i));
  return row;
}

class AnimalCoder : public QueryCoder {
 public:
  explicit AnimalCoder(AnimalGate* gate) : gate_(gate) {}

  CodedQuery Words(const std::string& words) const override {
    uint64_t code = 0;
    std::istringstream in(words);
    for (std::string word; in >> word;) {
      for (int kind = 0; kind < 4; ++kind) {
        if (word == kKinds[kind] || word == std::string(kKinds[kind]) + "s") code |= KindCode(kind);
      }
      if (word == "slow") code |= Slow();
    }
    if (code == 0) throw Error("none of these words is known; ask with others");
    return {.code = Row(code), .relaxed = {1, 0}};
  }

  CodedQuery Picture(const std::string& bytes) const override {
    if (!bytes.starts_with(kDot)) throw Error("this is not a picture; send a PNG, JPEG or WebP");
    return {.code = Row(KindCode(bytes == kDot ? 0 : 1)), .relaxed = {1, 0}};
  }

  bool knows_words() const override { return true; }
  bool knows_pictures() const override { return true; }

 private:
  uint64_t Slow() const {
    ++gate_->waiting;
    gate_->open.wait(false);
    ++gate_->passed;
    return KindCode(2);
  }

  AnimalGate* gate_;
};

std::string Facts(const std::string& name, const std::string& caption) {
  return nlohmann::json{{"name", name}, {"caption", caption}, {"picture", "cat.png"}, {"source", 0}}
      .dump();
}

Item Animal(int kind, int i) {
  const char* odd[] = {"<img src=x onerror=\"window.ran = 1\"><script>window.ran = 2</script>",
                       "חתול מחייך", "微笑的猫"};
  std::string name = fmt::format("{} {:02}", kKinds[kind], i);
  const char* silos[] = {i % 2 ? "south" : "north", "south", "north", "west"};
  uint64_t code = KindCode(kind) | ((uint64_t{1} << (i % 8)) - 1) << 48;
  std::vector<float> vector = {1, i % 8 == 5 ? 0.f : 1.f};
  return {.id = (int64_t{1} << 62) + 100 * kind + i,
          .silo = silos[kind],
          .classes = {std::string(kKinds[kind]) + "s", fmt::format("group {}", i % 10)},
          .facts = Facts(name, kind == 3 ? odd[i] : name),
          .codes = {Row(code), Row(code)},
          .vectors = {vector, vector}};
}

}  // namespace

void MakeAnimals(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  WriteFile(folder / "cat.png", kDot);
  WriteFile(folder / "dog.png", kDot + "a dog");
  WriteFile(folder / "notes.txt", "Buy milk.");
  std::vector<Item> items;
  for (int kind = 0; kind < 4; ++kind) {
    for (int i = 0; i < kAnimals[kind]; ++i) items.push_back(Animal(kind, i));
  }
  Schema schema{
      .columns = {"image", "text"}, .bits = 64, .vectors = "relaxed", .vector_dims = {2, 2}};
  Store::Create(folder / "items.cxi", schema, static_cast<int64_t>(items.size()),
                [&](int64_t i) { return items[i]; });
}

OpenSite OpenAnimals(const std::filesystem::path& folder, AnimalGate* gate) {
  return [folder, gate] {
    return std::make_shared<Site>("animals", 1, Store::Open(folder / "items.cxi"),
                                  std::make_unique<AnimalCoder>(gate),
                                  std::vector<std::filesystem::path>{folder});
  };
}

}  // namespace crossilo
