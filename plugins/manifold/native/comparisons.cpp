// Passes over comparisons, each with its entries of a block or its rows of the factors.
#include "passes.hpp"

namespace optiframe::manifold {

void gather(const double* x, i64 columns, const Comparisons& of, double* out) {
    for (i64 i = 0; i < of.rows; ++i) {
        const double* row = x + i * columns;
        for (i64 e = of.pointer[i]; e < of.pointer[i + 1]; ++e) out[e] = row[of.winner[e]] - row[of.loser[e]];
    }
}

void spread(double* into, i64 columns, const Comparisons& of, const double* amount) {
    for (i64 i = 0; i < of.rows; ++i) {
        double* row = into + i * columns;
        for (i64 e = of.pointer[i]; e < of.pointer[i + 1]; ++e) {
            row[of.winner[e]] += amount[e];
            row[of.loser[e]] -= amount[e];
        }
    }
}

void margins(const double* left, const double* right, i64 rank, const Comparisons& of, double* out) {
    for (i64 i = 0; i < of.rows; ++i) {
        const double* mine = left + i * rank;
        for (i64 e = of.pointer[i]; e < of.pointer[i + 1]; ++e) {
            const double *better = right + of.winner[e] * rank, *worse = right + of.loser[e] * rank;
            double found = 0.0;
            for (i64 a = 0; a < rank; ++a) found += mine[a] * (better[a] - worse[a]);
            out[e] = found;
        }
    }
}

void pull(const double* left, const double* right, i64 rank, const Comparisons& of, const double* amount,
          double* __restrict to_left, double* __restrict to_right) {
    for (i64 i = 0; i < of.rows; ++i)
        for (i64 e = of.pointer[i]; e < of.pointer[i + 1]; ++e) {
            const i64 j = of.winner[e] * rank, k = of.loser[e] * rank;
            for (i64 a = 0; a < rank; ++a) {
                to_left[i * rank + a] += amount[e] * (right[j + a] - right[k + a]);
                const double push = amount[e] * left[i * rank + a];
                to_right[j + a] += push;
                to_right[k + a] -= push;
            }
        }
}

void pull_along(const double* left, const double* right, i64 rank, const Comparisons& of, const double* slope,
                const double* bend, double* __restrict to_left, double* __restrict to_right) {
    for (i64 i = 0; i < of.rows; ++i) {
        const double* mine = left + 2 * i * rank;
        for (i64 e = of.pointer[i]; e < of.pointer[i + 1]; ++e) {
            const i64 j = of.winner[e], k = of.loser[e];
            const double *better = right + 2 * j * rank, *worse = right + 2 * k * rank;
            double change = 0.0;
            for (i64 a = 0; a < 2 * rank; ++a) change += mine[a] * (better[a] - worse[a]);
            change *= bend[e];
            for (i64 a = 0; a < rank; ++a) {
                to_left[i * rank + a] += change * (better[a] - worse[a]) + slope[e] * (better[rank + a] - worse[rank + a]);
                const double push = change * mine[rank + a] + slope[e] * mine[a];
                to_right[j * rank + a] += push;
                to_right[k * rank + a] -= push;
            }
        }
    }
}

} // namespace optiframe::manifold
