// Bytes as text, for messages of failed tests and for small expected values.
#pragma once

#include <string>
#include <string_view>

namespace dv::testing {

// Returns `bytes` as lower-case hexadecimal digits, two a byte.
std::string ToHex(std::string_view bytes);

// Returns the bytes that `text` spells in hexadecimal digits. Spaces are left out.
// REQUIRES: an even number of digits.
std::string FromHex(std::string_view text);

// Returns the bytes that `text` spells in base64 (RFC 4648, with padding).
// REQUIRES: the text is well-formed.
std::string FromBase64(std::string_view text);

}  // namespace dv::testing
