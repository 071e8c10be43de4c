#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "crossilo/index/log.h"

namespace crossilo {

// One record of a log:
//   u64 checksum of what follows, seeded with that of the record before
//   u32 kind, u32 length of the payload, payload, zeros up to a multiple of 8
// The chain of seeds ties a record to all before it, so records of a tail that
// was cut off never fit to those written over them.

inline constexpr size_t kRecordHead = 16, kLogHeader = 40, kCommitPayload = 16;

inline uint64_t RecordBytes(uint64_t payload) { return kRecordHead + (payload + 7) / 8 * 8; }

// The header's last 8 bytes are its checksum, which begins the chain.  Decode
// throws Error, beginning with `where`.
std::string EncodeLogHeader(const LogBase& base);
LogBase DecodeLogHeader(std::string_view bytes, const std::string& where);

std::string EncodeRecord(LogKind kind, std::string_view payload, uint64_t chain);

// A commit says its number, and proves by itself that it is one: after damage it
// can be found without the chain.
std::string CommitPayload(const LogBase& base, uint64_t offset, uint64_t number);

// The number of the commit whose record begins there, 0 where none does.
uint64_t CommitNumber(std::string_view record, const LogBase& base, uint64_t offset);

}  // namespace crossilo
