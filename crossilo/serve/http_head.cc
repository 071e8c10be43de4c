#include <algorithm>
#include <charconv>

#include "crossilo/serve/http.h"
#include "crossilo/serve/text.h"

namespace crossilo {
namespace {

bool IsTokenCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsTokenCharacter);
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The line before the next CRLF, which is taken off `text`.
std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find("\r\n");
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  return line;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void ParseTarget(std::string_view target, HttpHead& head) {
  // A proxy's form: http://host/path.
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const size_t path = target.find_first_of("/?", scheme.size());
    target = path == std::string_view::npos || target[path] == '?' ? "/" : target.substr(path);
    break;
  }
  if (!target.starts_with('/')) throw HttpError(400, "the request's address does not begin with /");
  const size_t mark = target.find('?');
  head.path = Decoded(target.substr(0, mark), /*query=*/false);
  if (mark == std::string_view::npos) return;
  std::string_view query = target.substr(mark + 1);
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    const auto value = equals == std::string_view::npos ? "" : pair.substr(equals + 1);
    head.query.emplace(Decoded(pair.substr(0, equals), true), Decoded(value, true));
  }
}

void ParseRequestLine(std::string_view line, const HttpLimits& limits, HttpHead& head) {
  if (line.size() > limits.line) {
    throw HttpError(414, "the address is too long; send long questions in a POST");
  }
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    throw HttpError(400, "the request line is not METHOD ADDRESS VERSION");
  }
  head.method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!IsToken(head.method)) throw HttpError(400, "the request's method is no word");
  if (!std::ranges::all_of(target, [](char c) { return c > 0x20 && c < 0x7F; })) {
    throw HttpError(400, "the request's address has characters that are not percent-encoded");
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    const bool http = version.starts_with("HTTP/");
    throw HttpError(http ? 505 : 400, "this server speaks HTTP/1.1");
  }
  head.http_1_0 = version == "HTTP/1.0";
  ParseTarget(target, head);
}

void ParseHeader(std::string_view line, HttpHead& head) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) {
    throw HttpError(400, "a header line is not NAME: VALUE");
  }
  const std::string_view value = Trimmed(line.substr(colon + 1));
  if (std::ranges::any_of(value, IsControl)) {
    throw HttpError(400, "a header has control characters");
  }
  const auto [entry, added] = head.headers.emplace(Lower(line.substr(0, colon)), value);
  if (added) return;
  // Two lengths, hosts or tokens leave open which one a proxy went by.
  static constexpr std::string_view kOnce[] = {"content-length", "transfer-encoding", "host",
                                               "authorization", "content-type"};
  if (std::ranges::find(kOnce, entry->first) != std::end(kOnce)) {
    throw HttpError(400, "the header {} is there twice", entry->first);
  }
  entry->second.append(", ").append(value);
}

// Whether a list such as "close, te" has a word.
bool HasWord(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find(','));
    if (Trimmed(entry) == word) return true;
    list.remove_prefix(std::min(entry.size() + 1, list.size()));
  }
  return false;
}

// What the headers say about the body and the connection.
void ReadFraming(HttpHead& head) {
  const std::string& coding = head.Header("transfer-encoding");
  const std::string& length = head.Header("content-length");
  if (head.headers.contains("transfer-encoding")) {
    if (Lower(coding) != "chunked")
      throw HttpError(501, "of transfer codings only chunked is read");
    if (head.headers.contains("content-length") || head.http_1_0) {
      throw HttpError(400, "a body is either chunked or has a length");
    }
    head.chunked = true;
  } else if (head.headers.contains("content-length")) {
    const char* end = length.data() + length.size();
    const auto [stop, error] = std::from_chars(length.data(), end, head.length);
    if (error == std::errc::result_out_of_range) throw HttpError(413, "the body is too long");
    if (error != std::errc() || stop != end) throw HttpError(400, "Content-Length is no number");
  }
  const std::string& coded = head.Header("content-encoding");
  if (!coded.empty() && Lower(coded) != "identity") {
    throw HttpError(415, "send the body without compression");
  }
  if (!head.http_1_0 && !head.headers.contains("host")) {
    throw HttpError(400, "the request has no Host header");
  }
  const std::string connection = Lower(head.Header("connection"));
  head.keep_alive =
      head.http_1_0 ? HasWord(connection, "keep-alive") : !HasWord(connection, "close");
  // HTTP/1.0 does not know it (RFC 9110, section 10.1.1).
  head.expects_continue = !head.http_1_0 && Lower(head.Header("expect")) == "100-continue";
}

}  // namespace

const std::string& HttpHead::Header(const std::string& name) const {
  static const std::string kNone;
  const auto found = headers.find(name);
  return found == headers.end() ? kNone : found->second;
}

std::string Decoded(std::string_view text, bool query) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 &&
        HexDigit(text[i + 2]) >= 0) {
      out += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else {
      out += query && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

size_t HeadLength(std::string_view bytes, const HttpLimits& limits) {
  const size_t end = bytes.find("\r\n\r\n");
  if (end != std::string_view::npos && end + 4 <= limits.head) return end + 4;
  // The first line's end may be far behind: the answer is the same.
  if (bytes.size() > limits.line && bytes.substr(0, limits.line).find("\r\n") == bytes.npos) {
    throw HttpError(414, "the address is too long; send long questions in a POST");
  }
  if (bytes.size() > limits.head) throw HttpError(431, "the request's headers are too long");
  return 0;
}

HttpHead ParseHead(std::string_view text, const HttpLimits& limits) {
  HttpHead head;
  ParseRequestLine(TakeLine(text), limits, head);
  size_t count = 0;
  while (true) {
    const std::string_view line = TakeLine(text);
    if (line.empty()) break;
    if (++count > limits.headers) throw HttpError(431, "the request has too many headers");
    ParseHeader(line, head);
  }
  ReadFraming(head);
  return head;
}

}  // namespace crossilo
