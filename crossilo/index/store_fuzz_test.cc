// Files that nobody vouches for: whatever their bytes, a store throws Error or
// works.  Run it under the address and undefined-behaviour sanitizers.

#include <gmock/gmock.h>

#include <functional>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/index/checksum.h"
#include "crossilo/index/file_format.h"
#include "crossilo/index/log.h"
#include "crossilo/index/store_test_model.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

// Anything but an Error that comes out is a failure of the test.
bool Survives(const std::function<void()>& act) {
  try {
    act();
    return true;
  } catch (const Error&) {
    return false;
  }
}

void Read(const fs::path& path, const std::string& index) {
  const auto store = Store::Open(path, {.index = index, .threads = 1});
  const Schema schema = store->schema();
  // Other sizes than the real file's are not worth the memory.
  if (RowBytes(schema) > 1024) return;
  Random random(1, {}, "fuzz");
  std::vector<std::byte> query = RandomRow(schema, random);
  const auto last = static_cast<int>(schema.columns.size()) - 1;
  for (const Filter& filter : {Filter{}, Filter{.silos = {"a"}}, Filter{.classes = {"cat"}}}) {
    Survives([&] { store->Search(0, query, {.k = 7, .threads = 1}, filter); });
    Survives([&] { store->Search(last, query, {.k = Policy::kAll, .radius = 2, .threads = 1}); });
    Survives([&] { store->Count(last, filter); });
  }
  for (int64_t id = -1; id < 62; ++id) Survives([&] { store->Find(id); });
  Survives([&] { store->ForEach([](const Item&) { return true; }); });
  Survives([&] { store->Silos(); });
  Survives([&] { store->Classes(); });
}

void Write(const fs::path& path) {
  const auto store = Store::OpenForWriting(path, {.threads = 1});
  if (RowBytes(store->schema()) > 1024) return;
  Random random(2, {}, "fuzz");
  Survives([&] { store->Remove(3); });
  Survives([&] { store->Put(RandomItem(store->schema(), 4, random)); });
  Survives([&] { store->Compact(); });
  Survives([&] { store->Find(4); });
}

struct Victim {
  fs::path path, log;
  std::string file, log_bytes;
};

// A real file with every kind of section, and a real log.
Victim MakeVictim(const std::string& name, const Schema& schema) {
  Random random(3, {}, "fuzz");
  Victim victim{.path = FreshFolder(name) / "items.cxi"};
  victim.log = victim.path.string() + ".log";
  CreateStore(victim.path, schema, RandomItems(schema, 40, random), {.index = "mih", .threads = 1});
  const auto store = Store::OpenForWriting(victim.path, {.threads = 1});
  for (int64_t id = 0; id < 60; id += 7) store->Put(RandomItem(schema, id, random));
  store->Commit();
  store->Remove(7);
  store->Commit();
  victim.file = ReadFile(victim.path);
  victim.log_bytes = ReadFile(victim.log);
  return victim;
}

// All that can be done with a damaged file; the log is as it was.
void Exercise(const Victim& victim, const std::string& file) {
  for (const std::string index : {"auto", "mih", "flat"}) {
    Overwrite(victim.path, file);
    Survives([&] { Read(victim.path, index); });
  }
}

std::string Flipped(std::string bytes, size_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
  return bytes;
}

uint32_t HeaderBytes(const std::string& file) {
  uint32_t size = 0;
  std::memcpy(&size, file.data() + 20, sizeof size);
  return size;
}

// Makes the header's checksum true again, as one who means harm would.
std::string Sealed(std::string file) {
  const size_t size = std::min<size_t>(HeaderBytes(file), file.size());
  if (size < 16) return file;
  const uint64_t checksum = Checksum(std::string_view(file).substr(16, size - 16));
  std::memcpy(file.data() + 8, &checksum, sizeof checksum);
  return file;
}

// The log belongs to no header but the one it was written for, so sealed files
// stand alone.
class StoreFuzz : public testing::TestWithParam<int> {
 protected:
  Victim Make(const std::string& name) {
    return MakeVictim(name, GetParam() > 0 ? TwoColumns(GetParam()) : TwoColumns(0, 4));
  }
};
INSTANTIATE_TEST_SUITE_P(, StoreFuzz, testing::Values(16, 64, 0));

TEST_P(StoreFuzz, AFlippedHeaderIsRefused) {
  const Victim victim = Make("refused");
  Random random(11, {}, "fuzz");
  for (size_t byte = 0; byte < HeaderBytes(victim.file); ++byte) {
    Overwrite(victim.path, Flipped(victim.file, byte * 8 + random.Below(8)));
    EXPECT_THROW(Store::Open(victim.path), Error) << byte;
  }
}

TEST_P(StoreFuzz, AForgedHeaderDoesNoHarm) {
  const Victim victim = Make("forged");
  fs::remove(victim.log);
  Random random(4, {}, "fuzz");
  const uint32_t size = HeaderBytes(victim.file);
  for (size_t byte = 16; byte < size; ++byte) {
    Exercise(victim, Sealed(Flipped(victim.file, byte * 8 + random.Below(8))));
  }
  for (int tries = 0; tries < 500; ++tries) {
    std::string file = victim.file;
    for (uint64_t left = 1 + random.Below(4); left > 0; --left) {
      const size_t at = 16 + random.Below(size - 16);
      file[at] = "\x00\x01\x7f\xff"[random.Below(4)];
    }
    Exercise(victim, Sealed(std::move(file)));
  }
}

TEST_P(StoreFuzz, DamagedSectionsAreFoundAndDoNoHarm) {
  const Victim victim = Make("sections");
  Random random(5, {}, "fuzz");
  const uint32_t header = HeaderBytes(victim.file);
  for (int tries = 0; tries < 300; ++tries) {
    std::string file = victim.file;
    const size_t from = header + random.Below(file.size() - header);
    const size_t length = random.Below(3) == 0 ? 1 : random.Below(file.size() - from) + 1;
    const uint64_t kind = random.Below(3);
    for (size_t at = from; at < from + length; ++at) {
      file[at] = static_cast<char>(kind == 0 ? 0 : kind == 1 ? 0xFF : random.Bits());
    }
    if (file == victim.file) continue;
    Exercise(victim, file);
    EXPECT_THROW(Store::Open(victim.path)->Verify(), Error);
    if (tries % 10 == 0) Survives([&] { Write(victim.path); });
    Overwrite(victim.log, victim.log_bytes);
  }
}

// Section by section, because most bytes of the file are codes.
TEST_P(StoreFuzz, EverySectionInTurn) {
  const Victim victim = Make("turn");
  Random random(6, {}, "fuzz");
  const FileHeader header = ParseHeader(std::as_bytes(std::span(victim.file)), "the victim");
  EXPECT_GE(header.sections.size(), 15u);
  for (const Section& section : header.sections) {
    for (int tries = 0; section.length > 0 && tries < 20; ++tries) {
      std::string file = victim.file;
      for (uint64_t left = 1 + random.Below(8); left > 0; --left) {
        file[section.offset + random.Below(section.length)] = static_cast<char>(random.Bits());
      }
      Exercise(victim, file);
    }
  }
}

TEST_P(StoreFuzz, TruncatedAndLengthenedFilesAreRefused) {
  const Victim victim = Make("truncated");
  Random random(7, {}, "fuzz");
  for (size_t length = 0; length < victim.file.size();
       length += length < HeaderBytes(victim.file) ? 1 : 1 + random.Below(100)) {
    Overwrite(victim.path, victim.file.substr(0, length));
    EXPECT_THROW(Store::Open(victim.path), Error) << length;
    if (length < 48) continue;
    // The same, with a header that says so.
    std::string file = victim.file.substr(0, length);
    const uint64_t file_bytes = length;
    std::memcpy(file.data() + 40, &file_bytes, sizeof file_bytes);
    Overwrite(victim.path, Sealed(file));
    EXPECT_THROW(Store::Open(victim.path), Error) << length;
  }
  Overwrite(victim.path, victim.file + '\0');
  EXPECT_THROW(Store::Open(victim.path), Error);
}

TEST_P(StoreFuzz, DamagedLogs) {
  const Victim victim = Make("log");
  Random random(8, {}, "fuzz");
  const auto open = [&](const std::string& log) {
    Overwrite(victim.log, log);
    return Survives([&] { Read(victim.path, "auto"); });
  };
  EXPECT_TRUE(open(victim.log_bytes));
  for (size_t byte = 0; byte < victim.log_bytes.size(); ++byte) {
    const bool opened = open(Flipped(victim.log_bytes, byte * 8 + random.Below(8)));
    if (byte < 40) {
      EXPECT_FALSE(opened) << byte;
    }
  }
  for (size_t length = 0; length < victim.log_bytes.size(); length += 1 + random.Below(20)) {
    EXPECT_EQ(open(victim.log_bytes.substr(0, length)), length >= 40) << length;
  }
}

// Records that are whole, of changes that are none.
TEST_P(StoreFuzz, ForgedLogs) {
  const Victim victim = Make("forgedlog");
  Random random(9, {}, "fuzz");
  const std::string item =
      EncodeItem(Store::Open(victim.path)->schema(), *Store::Open(victim.path)->Find(14));
  int opened = 0;
  for (int tries = 0; tries < 300; ++tries) {
    Overwrite(victim.log, victim.log_bytes);
    const auto reader = LogReader::Open(victim.log);
    const LogPosition end = reader->Read(reader->begin(), [](LogKind, std::string_view) {});
    {
      LogWriter writer(victim.log, reader->base(), end);
      std::string payload = item;
      for (uint64_t left = random.Below(4); left > 0; --left) {
        payload[random.Below(payload.size())] = "\x00\x01\x7f\xff"[random.Below(4)];
      }
      if (random.Below(4) == 0) payload.resize(random.Below(payload.size()));
      writer.Append(static_cast<LogKind>(1 + random.Below(2)), payload);
      writer.Commit();
    }
    opened += Survives([&] { Read(victim.path, "auto"); });
  }
  EXPECT_GT(opened, 0);
  EXPECT_LT(opened, 300);
}

TEST(StoreFuzzBytes, AreRefused) {
  Random random(10, {}, "fuzz");
  const Victim victim = MakeVictim("random", TwoColumns(16));
  for (int tries = 0; tries < 500; ++tries) {
    std::string bytes(random.Below(500), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.Bits());
    // Half of them begin as a real file does.
    if (tries % 2 == 0) bytes = victim.file.substr(0, random.Below(24)) + bytes;
    Overwrite(victim.path, Sealed(bytes + std::string(24, '\0')));
    EXPECT_FALSE(Survives([&] { Read(victim.path, "auto"); }));
    Overwrite(victim.path, victim.file);
    Overwrite(victim.log, bytes);
    EXPECT_FALSE(Survives([&] { Read(victim.path, "auto"); }));
  }
}

}  // namespace
}  // namespace crossilo
