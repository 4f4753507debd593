// A file for a test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace dv::testing {

// TemporaryFile
//
// A file with given content. It is removed with this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) : path_(::testing::TempDir() + "dv-XXXXXX") {
    const int descriptor = mkstemp(path_.data());
    if (descriptor >= 0) close(descriptor);
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

  std::string Content() const {
    std::ifstream stream(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }

 private:
  std::string path_;
};

}  // namespace dv::testing
