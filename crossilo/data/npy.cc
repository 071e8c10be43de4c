#include "crossilo/data/npy.h"

#include <cstring>
#include <map>
#include <string_view>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/data/npy_header.h"
#include "crossilo/data/utf8.h"

namespace crossilo {
namespace {

const std::map<std::string, Dtype, std::less<>>& TypesByCode() {
  static const std::map<std::string, Dtype, std::less<>> types = {
      {"b1", Dtype::kBool}, {"i1", Dtype::kI8},  {"u1", Dtype::kU8},  {"i2", Dtype::kI16},
      {"u2", Dtype::kU16},  {"i4", Dtype::kI32}, {"u4", Dtype::kU32}, {"i8", Dtype::kI64},
      {"u8", Dtype::kU64},  {"f2", Dtype::kF16}, {"f4", Dtype::kF32}, {"f8", Dtype::kF64}};
  return types;
}

Dtype TypeOf(std::string_view descr, const std::string& origin) {
  const auto type = TypesByCode().find(descr.substr(std::min<size_t>(1, descr.size())));
  if (type == TypesByCode().end()) {
    throw Error("{}: holds elements of numpy type {}, not numbers we know; save it with {}", origin,
                descr, "astype('float32')");
  }
  if (descr[0] == '>' && SizeOf(type->second) > 1) {
    throw Error("{}: is big-endian ({}); save it with astype('<{}')", origin, descr,
                descr.substr(1));
  }
  return type->second;
}

// Elements that stand column-major, in row order.  Walks the target and keeps
// the source offset as an odometer.
std::vector<std::byte> RowMajor(std::span<const std::byte> source, size_t element,
                                const std::vector<int64_t>& shape) {
  std::vector<std::byte> target(source.size());
  std::vector<size_t> stride(shape.size()), index(shape.size(), 0);
  size_t step = element;
  for (size_t d = 0; d < shape.size(); ++d) {
    stride[d] = step;
    step *= static_cast<size_t>(shape[d]);
  }
  size_t from = 0;
  for (size_t to = 0; to < target.size(); to += element) {
    std::memcpy(target.data() + to, source.data() + from, element);
    for (size_t d = shape.size(); d-- > 0;) {
      from += stride[d];
      if (++index[d] < static_cast<size_t>(shape[d])) break;
      from -= stride[d] * index[d];
      index[d] = 0;
    }
  }
  return target;
}

// The elements after the header; their number is that of the shape.
std::span<const std::byte> Elements(std::span<const std::byte> bytes, const NpyHead& head,
                                    size_t element, const std::string& origin) {
  const auto data = bytes.subspan(head.data_at);
  uint64_t count = 1;
  bool none = false;
  for (int64_t extent : head.shape) {
    none = none || extent == 0;
    // 2^48 elements are more than any file has, and no product wraps.
    if (extent > 0 && count > (uint64_t{1} << 48) / static_cast<uint64_t>(extent)) {
      throw Error("{}: has a shape no file can fill; it is damaged, copy it again", origin);
    }
    if (extent > 0) count *= static_cast<uint64_t>(extent);
  }
  if (none) count = 0;
  if (count > data.size() / element || count * element != data.size()) {
    throw Error(
        "{}: has {} bytes of elements, which is not what its shape needs; it is damaged, "
        "copy it again",
        origin, data.size());
  }
  return data;
}

std::string StringAt(const std::byte* at, size_t width, bool wide) {
  std::string text;
  if (wide) {
    for (size_t i = 0; i < width; ++i) {
      uint32_t code;
      std::memcpy(&code, at + 4 * i, 4);
      AppendUtf8(code, text);
    }
  } else {
    text.assign(reinterpret_cast<const char*>(at), width);
  }
  text.resize(text.find_last_not_of('\0') + 1);  // numpy pads with zeros
  return text;
}

}  // namespace

Array DecodeNpy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                const std::string& origin) {
  const NpyHead head = ParseNpyHead(bytes, origin);
  Array array{TypeOf(head.descr, origin), head.shape, {}, std::move(owner)};
  array.bytes = Elements(bytes, head, SizeOf(array.type), origin);
  if (head.fortran_order && head.shape.size() > 1) {
    auto copy = std::make_shared<const std::vector<std::byte>>(
        RowMajor(array.bytes, SizeOf(array.type), head.shape));
    array.bytes = *copy;
    array.owner = std::move(copy);
  }
  return array;
}

std::vector<std::string> DecodeNpyStrings(std::span<const std::byte> bytes,
                                          const std::string& origin) {
  const NpyHead head = ParseNpyHead(bytes, origin);
  const bool wide = head.descr.starts_with("<U");
  const int64_t width = wide || head.descr.starts_with("|S") ? DigitsAt(head.descr, 2) : -1;
  if (width < 0 || width > (1 << 28)) {
    throw Error("{}: holds elements of numpy type {}, not texts", origin, head.descr);
  }
  if (width == 0) throw Error("{}: holds texts without letters", origin);
  const size_t element = static_cast<size_t>(width) * (wide ? 4 : 1);
  const auto data = Elements(bytes, head, element, origin);
  std::vector<std::string> texts;
  texts.reserve(data.size() / element);
  for (size_t at = 0; at < data.size(); at += element) {
    texts.push_back(StringAt(data.data() + at, static_cast<size_t>(width), wide));
  }
  return texts;
}

bool IsNumericNpy(std::span<const std::byte> bytes, const std::string& origin) {
  const std::string descr = ParseNpyHead(bytes, origin).descr;
  return !descr.empty() && TypesByCode().contains(std::string_view(descr).substr(1));
}

Array ReadNpy(const std::filesystem::path& path) {
  auto file = std::make_shared<const MappedFile>(path);
  const auto bytes = file->bytes();
  return DecodeNpy(bytes, std::move(file), path.string());
}

std::string NpyHeader(Dtype type, const std::vector<int64_t>& shape) {
  std::string code;
  for (const auto& [name, known] : TypesByCode()) {
    if (known == type) code = name;
  }
  std::string dict = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': (",
                                 SizeOf(type) == 1 ? '|' : '<', code);
  for (size_t d = 0; d < shape.size(); ++d) {
    dict += fmt::format("{}{}", d == 0 ? "" : ", ", shape[d]);
  }
  dict += shape.size() == 1 ? ",), }" : "), }";
  // numpy leaves room for the first extent to grow to 21 digits in place.
  if (!shape.empty()) dict.append(21 - std::to_string(shape[0]).size(), ' ');
  constexpr size_t kBefore = 10;  // magic, version, length
  dict.append(63 - (kBefore + dict.size()) % 64, ' ');
  dict += '\n';
  std::string out("\x93NUMPY\x01\0", 8);
  out += static_cast<char>(dict.size() & 0xFF);
  out += static_cast<char>(dict.size() >> 8);
  return out + dict;
}

void WriteNpy(const std::filesystem::path& path, Dtype type, const std::vector<int64_t>& shape,
              std::span<const std::byte> bytes) {
  WriteFile(path, [&](const Put& put) {
    put(NpyHeader(type, shape));
    put({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  });
}

}  // namespace crossilo
