#include "bregman.hpp"

#include <optiframe/arrays.hpp>

#include <algorithm>
#include <cmath>

namespace optiframe::hodgerank {
namespace {

struct Done {
    i64 row;        // up to which all have right codes
    double largest; // residual of those
};

// Rows from `begin` on. Codes are checked as they are read, since reading them is what a step waits for;
// and in a function without calls, beside which sums would be kept in memory.
[[gnu::noinline]] Done some_rows(const Comparisons& rows, const Bregman& of_rows, std::span<const double> scores,
                                 double dt, double kappa, double* into, i64 begin, i64 end) {
    const u64 items = scores.size();
    double largest = 0.0;
    i64 e = begin;
    for (; e < end; ++e) {
        const u64 i = static_cast<u64>(read(rows.left[e])), j = static_cast<u64>(read(rows.right[e])); // below 0: very large
        if (std::max(i, j) >= items) break;
        const double rest = rows.margin[e] - (scores[i] - scores[j]) - of_rows.outliers[e];
        const double z = of_rows.dual[e] += dt * rest;
        of_rows.after[e] = kappa * (z - std::copysign(std::min(std::abs(z), 1.0), z));
        largest = std::max(largest, std::abs(rest));
        const double pull = of_rows.weight[e] * rest;
        into[i] += pull;
        into[j] -= pull;
    }
    return {e, largest};
}

} // namespace

double bregman_block(const Comparisons& rows, const Bregman& of_rows, std::span<const double> scores, double dt,
                     double kappa, std::span<double> into) {
    std::ranges::fill(into, 0.0);
    double largest = 0.0;
    interrupt::in_blocks(rows.rows(), [&](i64 begin, i64 end) {
        const Done done = some_rows(rows, of_rows, scores, dt, kappa, into.data(), begin, end);
        check(done.row == end, "left or right has codes that are not of an item");
        largest = std::max(largest, done.largest);
    });
    return largest;
}

} // namespace optiframe::hodgerank
