#include "tests/testing/hex.h"

#include <cstdint>

namespace dv::testing {
namespace {

uint32_t DigitValue(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<uint32_t>(c - 'a') + 10;
  return static_cast<uint32_t>(c - 'A') + 10;
}

uint32_t Base64Value(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<uint32_t>(c - 'A');
  if (c >= 'a' && c <= 'z') return static_cast<uint32_t>(c - 'a') + 26;
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0') + 52;
  return c == '+' ? 62 : 63;
}

}  // namespace

std::string ToHex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

std::string FromHex(std::string_view text) {
  std::string bytes;
  uint32_t value = 0;
  int digits = 0;
  for (const char c : text) {
    if (c == ' ') continue;
    value = value * 16 + DigitValue(c);
    if (++digits == 2) {
      bytes.push_back(static_cast<char>(value));
      value = 0;
      digits = 0;
    }
  }
  return bytes;
}

std::string FromBase64(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  int bit_count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | Base64Value(c);
    bit_count += 6;
    if (bit_count >= 8) {
      bit_count -= 8;
      bytes.push_back(static_cast<char>(bits >> bit_count & 0xFF));
    }
  }
  return bytes;
}

}  // namespace dv::testing
