#include "server/format/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/testing/assembler.h"
#include "tests/testing/chains.h"
#include "tests/testing/hex.h"

namespace dv::format {
namespace {

using dv::testing::CutsEverywhere;
using dv::testing::FromHex;
using dv::testing::MakeChain;

struct LayoutCase {
  const char* name;
  std::string bytes;
  Layout layout;
};

std::vector<LayoutCase> LayoutCases() {
  return {
      {"Nothing", "", Layout::kUnknown},
      {"OneByte", FromHex("01"), Layout::kUnknown},
      {"Zeros", std::string(20, '\0'), Layout::kUnknown},
      {"Text", "not a deletion vector", Layout::kUnknown},
      {"Frame64", FromHex("00000026 d1d33964 01"), Layout::kFrame64},
      {"Frame64OfEightBytes", FromHex("00000026 d1d33964"), Layout::kFrame64},
      {"Frame64CutInMagic", FromHex("00000026 d1d339"), Layout::kUnknown},
      {"Frame64OfSixteenMegabytes", FromHex("01000000 d1d33964 01"), Layout::kFrame64},
      {"Frame32", FromHex("00000026 5e43f2d0 3a"), Layout::kFrame32},
      {"DvData", FromHex("d1d33964 01000000 00"), Layout::kDvData},
      {"DvDataOfFourBytes", FromHex("d1d33964"), Layout::kDvData},
      {"DvDataCutInMagic", FromHex("d1d339"), Layout::kUnknown},
      {"NativeLittleEndian", FromHex("d0d33964 01000000 12"), Layout::kNativeLittleEndian},
      {"NativeBigEndian", FromHex("6439d3d0 00000001 00"), Layout::kNativeBigEndian},
      {"Puffin", "PFA1PFA1{", Layout::kPuffin},
      {"PuffinOfFourBytes", "PFA1", Layout::kPuffin},
      {"DeltaFile", FromHex("01 00000026 d1d33964 01"), Layout::kFramedFile},
      {"DeltaFileOfNineBytes", FromHex("01 00000026 d1d33964"), Layout::kFramedFile},
      {"PaimonIndexFile", FromHex("01 00000026 5e43f2d0 3a"), Layout::kFramedFile},
      {"FileOfVersionTwo", FromHex("02 00000026 d1d33964 01"), Layout::kUnknown},
      {"BareRoaring32", FromHex("3a300000 01000000 0000"), Layout::kUnknown},
      {"BareRoaring64", FromHex("0100000000000000 00000000 3a300000"), Layout::kUnknown},
      {"MagicByteSwapped", FromHex("00000026 6439d3d1 01"), Layout::kUnknown},
      {"MagicFurtherOn", FromHex("0000 00000026 d1d33964 01"), Layout::kUnknown},
  };
}

class LayoutTest : public ::testing::TestWithParam<LayoutCase> {};

TEST_P(LayoutTest, IsFoundHoweverTheBytesAreCut) {
  const LayoutCase& tested = GetParam();
  EXPECT_EQ(DetectLayout(MakeChain(tested.bytes)), tested.layout);
  EXPECT_EQ(DetectLayout(MakeChain(tested.bytes, CutsEverywhere(tested.bytes.size()))),
            tested.layout);
  for (uint64_t cut = 0; cut <= tested.bytes.size(); ++cut) {
    EXPECT_EQ(DetectLayout(MakeChain(tested.bytes, {cut})), tested.layout);
  }
}

INSTANTIATE_TEST_SUITE_P(All, LayoutTest, ::testing::ValuesIn(LayoutCases()),
                         [](const ::testing::TestParamInfo<LayoutCase>& tested) {
                           return tested.param.name;
                         });

TEST(LayoutNameTest, EveryLayoutHasANameOfItsOwn) {
  std::set<std::string> names;
  for (const Layout layout :
       {Layout::kUnknown, Layout::kFrame64, Layout::kFrame32, Layout::kDvData,
        Layout::kNativeLittleEndian, Layout::kNativeBigEndian, Layout::kPuffin, Layout::kFramedFile,
        Layout::kRoaring64, Layout::kRoaring32}) {
    EXPECT_STRNE(LayoutName(layout), "");
    names.insert(LayoutName(layout));
  }
  EXPECT_EQ(names.size(), 10u);
}

}  // namespace
}  // namespace dv::format
