// Worths without rounding: the square of a double has at most 106 bits, and a place among 4,300.
#pragma once

#include <algorithm>
#include <bit>

#include "instance.hpp"

namespace optiframe::tvcs {

using u64 = std::uint64_t;
__extension__ using u128 = unsigned __int128;

inline int length(u128 bits) {
    const u64 high = static_cast<u64>(bits >> 64);
    return high ? 64 + static_cast<int>(std::bit_width(high))
                : static_cast<int>(std::bit_width(static_cast<u64>(bits)));
}

// A positive number: bits * 2^place.
struct Number {
    u128 bits = 0;
    int place = 0;

    // The number in units of 2^unit, rounded down; of that the lowest 64 bits.
    u64 in_units(int unit) const {
        const int shift = place - unit;
        if (shift >= 0) return shift < 64 ? static_cast<u64>(bits) << shift : 0;
        return shift > -128 ? static_cast<u64>(bits >> -shift) : 0;
    }
    // What rounding down leaves: the place above its highest bit; the lowest int for nothing.
    int rest_below(int unit) const {
        constexpr int none = std::numeric_limits<int>::min();
        const int shift = unit - place;
        if (shift <= 0) return none;
        const u128 rest = shift < 128 ? bits & ((u128{1} << shift) - 1) : bits;
        return rest ? place + length(rest) : none;
    }
    // The place of the lowest bit that is set.
    int lowest() const {
        const u64 low = static_cast<u64>(bits);
        return place + (low ? std::countr_zero(low) : 64 + std::countr_zero(static_cast<u64>(bits >> 64)));
    }
};

// The worth of a finite value above zero.
inline Number worth_of(double value, bool squared) {
    const u64 bits = std::bit_cast<u64>(value), fraction = bits & ((u64{1} << 52) - 1);
    const int exponent = static_cast<int>(bits >> 52);
    const u64 whole = exponent > 0 ? fraction | u64{1} << 52 : fraction; // the smallest ones have no leading bit
    const int place = std::max(exponent, 1) - 1075;
    return squared ? Number{u128{whole} * whole, 2 * place} : Number{whole, place};
}

// A number from 0 to below 2^64 for each element, the same every time (Steele, Lea, Flood 2014: SplitMix64).
inline u64 scrambled(i64 element) {
    u64 z = (static_cast<u64>(element) + 1) * 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

// What breaks ties: numbers below 2^50 that fall with the index, by steps that differ from element to element,
// so that hardly ever two supports have the same sum; should they, the second settles it.
inline Number first_tie_break(i64 element, i64 elements, int unit) {
    const int step = 50 - static_cast<int>(std::bit_width(static_cast<u64>(elements)));
    const u64 place = static_cast<u64>(elements - element);
    return {(place << step) + (scrambled(element) >> (64 - step)), unit};
}
inline Number second_tie_break(i64 element, int unit) { return {(scrambled(~element) >> 14) + 1, unit}; }

} // namespace optiframe::tvcs
