// Kernels for x86-64.
#pragma once

#include "server/roaring/kernels.h"

namespace dv::roaring {

// Returns the kernels of a level above kPortable if this CPU has it, else null. Always null on
// other machines.
const Kernels* X86KernelsFor(CpuLevel level);

}  // namespace dv::roaring
