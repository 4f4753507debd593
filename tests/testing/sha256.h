// SHA-256 digests of positions and runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dv::testing {

// Sha256
//
// The digest of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  // Adds bytes.
  void Update(std::string_view bytes);

  // Adds a number as 8 bytes, little endian.
  void UpdateLe64(uint64_t number);

  // Returns the digest as 64 lower-case hexadecimal digits. Call it once, after all updates.
  std::string Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dv::testing
