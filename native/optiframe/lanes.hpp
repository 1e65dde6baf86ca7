// Eight numbers side by side: sums in lanes of our own come out the same on every processor, however
// wide its vectors are, and no compiler has to be allowed to reorder them.
#pragma once

#include <cstdint>
#include <cstring>

namespace optiframe {

typedef double Lanes __attribute__((vector_size(64)));
inline constexpr std::int64_t lanes = 8;

[[gnu::always_inline]] inline Lanes load(const double* from) {
    Lanes found;
    std::memcpy(&found, from, sizeof found);
    return found;
}

[[gnu::always_inline]] inline double sum(const Lanes& x) {
    return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

} // namespace optiframe
