// exp and log1p in steps that vectorize: calls to the C library keep a loop scalar. The files that use
// them let the compiler fuse a product and a sum (-ffp-contract=fast), which makes them more exact and
// half as slow again: results differ between processors with and without fused operations by units in
// the last place.
#pragma once

#include <bit>
#include <cstdint>

namespace optiframe {

// first x^n + ... by Horner's rule.
template <class T, class... Rest> [[gnu::always_inline]] inline T horner(T x, T first, Rest... rest) {
    ((first = first * x + static_cast<T>(rest)), ...);
    return first;
}

// exp(x) for x up to 709 within 2 units in the last place; below -708 exp(-708) = 3e-308, nan for nan.
//
// x = k ln 2 + r with |r| <= ln 2 / 2; Taylor's polynomial of degree 13 in r is exact to 1e-17, and 2^k
// is made of bits.
[[gnu::always_inline]] inline double exp(double x) {
    constexpr double log2_e = 1.4426950408889634;
    // ln 2 in two parts, the first with so few digits that its product with a whole number is exact.
    constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
    constexpr double round = 6755399441055744.0; // 1.5 * 2^52: leaves a whole number in the last bits
    x = x < -708.0 ? -708.0 : x;
    const double shifted = x * log2_e + round, whole = shifted - round;
    const double r = (x - whole * ln2_high) - whole * ln2_low;
    const double p = horner(r, 1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0,
                            1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0,
                            1.0 / 6.0, 0.5, 1.0, 1.0);
    return p * std::bit_cast<double>((std::bit_cast<std::int64_t>(shifted) + 1023) << 52);
}

// The same in single precision, for x up to 88; below -87 exp(-87). The term after the last is 1e-7.
[[gnu::always_inline]] inline float exp(float x) {
    constexpr float log2_e = 1.44269504f, ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
    constexpr float round = 12582912.0f; // 1.5 * 2^23
    x = x < -87.0f ? -87.0f : x;
    const float shifted = x * log2_e + round, whole = shifted - round;
    const float r = (x - whole * ln2_high) - whole * ln2_low;
    const float p = horner(r, 1.0f / 720.0f, 1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f, 0.5f, 1.0f, 1.0f);
    return p * std::bit_cast<float>((std::bit_cast<std::int32_t>(shifted) + 127) << 23);
}

// log(1 + t) for 0 <= t <= 1 within 3 units in the last place.
//
// log(1 + t) = 2 artanh(s) with s = t / (2 + t) <= 1/3; the term after the last, s^33 / 33, is below
// 6e-18.
[[gnu::always_inline]] inline double log1p(double t) {
    const double s = t / (2.0 + t), q = s * s;
    const double p = horner(q, 1.0 / 31, 1.0 / 29, 1.0 / 27, 1.0 / 25, 1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17,
                            1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3);
    return 2.0 * s * (p * q + 1.0);
}

} // namespace optiframe
