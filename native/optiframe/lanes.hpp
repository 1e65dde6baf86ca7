// Eight numbers side by side: sums in lanes of our own come out the same on every processor, however
// wide its vectors are, and no compiler has to be allowed to reorder them.
#pragma once

#include <cstdint>
#include <cstring>

namespace optiframe {

typedef double Lanes __attribute__((vector_size(64)));
inline constexpr std::int64_t lanes = 8;

// Into a place of the caller's: what a function returns may not be wider than the processor's vectors.
[[gnu::always_inline]] inline void load(const double* from, Lanes& into) { std::memcpy(&into, from, sizeof into); }

[[gnu::always_inline]] inline double sum(const Lanes& x) {
    return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

// Sums of so many numbers side by side, 4 kB of the first cache, for loops that the compiler vectorizes: they
// are the same on every processor, too.
inline constexpr std::int64_t side_by_side = 512;

inline double total(const double (&sums)[side_by_side]) {
    double found = 0.0;
    for (const double each : sums) found += each;
    return found;
}

} // namespace optiframe
