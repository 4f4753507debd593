// dv-bench-payloads: writes the payloads of the benchmarks to files, for decoders in other
// languages.

#include <cstdio>
#include <fstream>
#include <string>

#include "tests/bench/payloads.h"

int main(int argc, char** argv) {
  if (argc != 2 || argv[1][0] == '-') {
    std::fprintf(stderr,
                 "usage: dv-bench-payloads DIR\n\n"
                 "Writes each payload to DIR/NAME.bin, as bare 64-bit Roaring, and their names in "
                 "order to DIR/names.\n");
    return 2;
  }
  const std::string folder = argv[1];
  std::ofstream names(folder + "/names");
  for (const std::string& name : dv::bench::PayloadNames()) {
    const std::string path = folder + "/" + name + ".bin";
    std::ofstream file(path, std::ios::binary);
    file << dv::bench::MakePayload(name).bytes;
    file.close();
    names << name << '\n';
    if (!file || !names) {
      std::fprintf(stderr, "cannot write %s\n", path.c_str());
      return 1;
    }
  }
  return 0;
}
