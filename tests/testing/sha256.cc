#include "tests/testing/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "tests/testing/hex.h"

namespace dv::testing {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  // Numbers wait here, so that each does not cost a call.
  std::string buffer;

  ~State() { EVP_MD_CTX_free(context); }

  void Flush() {
    EVP_DigestUpdate(context, buffer.data(), buffer.size());
    buffer.clear();
  }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr);
}

Sha256::~Sha256() = default;

void Sha256::Update(std::string_view bytes) {
  state_->Flush();
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

void Sha256::UpdateLe64(uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) {
    state_->buffer.push_back(static_cast<char>(number >> shift & 0xFF));
  }
  if (state_->buffer.size() >= 4096) state_->Flush();
}

std::string Sha256::Finish() {
  state_->Flush();
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  EVP_DigestFinal_ex(state_->context, digest.data(), &size);
  std::string bytes;
  for (unsigned int i = 0; i < size; ++i) bytes.push_back(static_cast<char>(digest[i]));
  return ToHex(bytes);
}

}  // namespace dv::testing
