// A function marked OPTIFRAME_CLONES is compiled once for each kind of processor, and the best one that
// runs here is taken when the module is loaded; plain where the compiler has no such thing (see
// kernels.cmake).
#pragma once

#ifdef OPTIFRAME_HAS_CLONES
#define OPTIFRAME_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define OPTIFRAME_CLONES
#endif
