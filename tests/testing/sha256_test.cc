#include "tests/testing/sha256.h"

#include <gtest/gtest.h>

namespace dv::testing {
namespace {

TEST(Sha256Test, KnownValues) {
  EXPECT_EQ(Sha256().Finish(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 abc;
  abc.Update("a");
  abc.Update("bc");
  EXPECT_EQ(abc.Finish(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256Test, NumbersAreEightBytesLittleEndian) {
  Sha256 numbers;
  numbers.UpdateLe64(0x0807060504030201);
  Sha256 bytes;
  bytes.Update("\x01\x02\x03\x04\x05\x06\x07\x08");
  EXPECT_EQ(numbers.Finish(), bytes.Finish());
}

}  // namespace
}  // namespace dv::testing
