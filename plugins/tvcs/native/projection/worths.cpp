#include "worths.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include <optiframe/dispatch.hpp>
#include <optiframe/interrupt.hpp>

#include "numbers.hpp"

namespace optiframe::tvcs {

namespace {

constexpr i64 chunk = 2048;     // values at a time: they stay in the cache
constexpr int fewest_bits = 12; // of what breaks ties: fewer would leave most of them
constexpr i64 magnitude = 0x7FFFFFFFFFFFFFFF; // bits of a number but its sign
constexpr i64 infinite = 0x7FF0000000000000;  // those of infinity; of what is not a number they are more

struct Extremes {
    i64 largest, farthest;
};

// As whole numbers, which the bits of floating-point numbers order like, maxima are vectorized.
OPTIFRAME_CLONES Extremes extremes(const double* values, i64 n) {
    i64 largest = 0, farthest = 0;
    for (i64 k = 0; k < n; ++k) {
        const i64 bits = std::bit_cast<i64>(values[k]);
        largest = std::max(largest, bits);
        farthest = std::max(farthest, bits & magnitude);
    }
    return {largest, farthest};
}

OPTIFRAME_CLONES i64 quantise_in_order(const double* values, bool squared, i64 n, Units units, double* whole) {
    i64 positive = 0;
    for (i64 k = 0; k < n; ++k) {
        const double x = values[k];
        const double y = x * units.first * units.second, worth = squared ? y * y : y;
        const bool some = squared ? x != 0.0 : x > 0.0;
        // What is no number by now becomes 1.
        whole[k] = some ? std::min(std::max(1.0, std::rint(worth * 0x1p50)), units.limit) : 0.0;
        positive += some;
    }
    return positive;
}

// How many are no multiples of a unit.
OPTIFRAME_CLONES i64 rests(const double* whole, i64 n, double unit) {
    i64 found = 0;
    for (i64 k = 0; k < n; ++k) found += whole[k] != unit * std::floor(whole[k] / unit);
    return found;
}

} // namespace

double largest_value(std::span<const double> values, bool squared) {
    i64 largest = 0, farthest = 0;
    interrupt::in_blocks(static_cast<i64>(values.size()), [&](i64 begin, i64 end) {
        const Extremes found = extremes(values.data() + begin, end - begin);
        largest = std::max(largest, found.largest);
        farthest = std::max(farthest, found.farthest);
    });
    return farthest >= infinite ? -1.0 : std::bit_cast<double>(squared ? farthest : largest);
}

bool are_alike(std::span<const double> values, bool squared, double top) {
    return std::ranges::all_of(values, [=](double x) {
        return x == 0.0 || x == top || (squared ? x == -top : x < 0.0);
    });
}

Units units_for(double largest, bool squared) {
    int exponent;
    const double top = std::frexp(largest, &exponent);
    const int half = exponent / 2; // 2^-exponent itself may be no number
    return {(squared ? 2 * exponent : exponent) - 50, std::ldexp(1.0, -half), std::ldexp(1.0, half - exponent),
            std::max(std::rint((squared ? top * top : top) * 0x1p50), 1.0)};
}

i64 quantise(std::span<const double> values, bool squared, std::span<const i32> rank, const Units& units,
             std::span<double> whole) {
    i64 positive = 0;
    double some[chunk];
    interrupt::in_blocks(static_cast<i64>(values.size()), [&](i64 begin, i64 end) {
        if (rank.empty()) {
            positive += quantise_in_order(values.data() + begin, squared, end - begin, units, whole.data() + begin);
            return;
        }
        // Each row is filled from its beginning: places next to those before, unlike where a row's values come from.
        for (i64 n; begin < end; begin += n) {
            n = std::min(chunk, end - begin);
            positive += quantise_in_order(values.data() + begin, squared, n, units, some);
            for (i64 k = 0; k < n; ++k) whole[rank[begin + k]] = some[k];
        }
    });
    return positive;
}

std::optional<int> add_ties(std::span<const double> values, bool squared, std::span<const i32> rank, int unit,
                            double common, i64 nodes, std::span<double> whole) {
    if (common <= 1.0) return {};
    const int lowest = std::countr_zero(static_cast<u64>(common)); // of the worths as they are counted
    const int bits = std::min(lowest - static_cast<int>(std::bit_width(static_cast<u64>(nodes))) - 1, 50);
    if (bits < fewest_bits) return {};
    const i64 n = static_cast<i64>(values.size());
    bool exact = true;
    interrupt::in_blocks(n, [&](i64 begin, i64 end) {
        for (i64 k = begin; k < end && exact; ++k) {
            const double value = squared ? std::abs(values[k]) : values[k];
            exact = !(value > 0) || (value < inf && worth_of(value, squared).lowest() >= unit + lowest);
        }
    });
    if (!exact) return {};
    const int place = unit + bits - 50;
    interrupt::in_blocks(n, [&](i64 begin, i64 end) {
        for (i64 k = begin; k < end; ++k) {
            double& worth = whole[rank.empty() ? k : rank[k]];
            if (worth > 0) worth += static_cast<double>(first_tie_break(k, n, place).in_units(unit));
        }
    });
    return place;
}

double common_unit(std::span<const double> whole) {
    const std::size_t step = std::max<std::size_t>(1, whole.size() / 64);
    i64 divisor = 0;
    for (std::size_t k = 0; k < whole.size() && divisor != 1; k += step)
        divisor = std::gcd(divisor, static_cast<i64>(whole[k]));
    if (divisor <= 1) return 1.0;
    const double unit = static_cast<double>(divisor);
    const i64 n = static_cast<i64>(whole.size());
    for (i64 begin = 0; begin < n; begin += chunk)
        if (rests(whole.data() + begin, std::min(chunk, n - begin), unit) > 0) return 1.0;
    return unit;
}

} // namespace optiframe::tvcs
