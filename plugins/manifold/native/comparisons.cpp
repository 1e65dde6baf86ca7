// Passes over comparisons, each with its entries of a block or its rows of the factors.
#include "passes.hpp"

namespace optiframe::manifold {

void gather(Matrix<const double> x, const Comparisons& of, double* out) {
    of.each_row(1, [&](i64 i, i64 begin, i64 end) {
        const double* row = x[i];
        for (i64 e = begin; e < end; ++e) out[e] = row[of.better(e)] - row[of.worse(e)];
    });
}

void spread(Matrix<double> into, const Comparisons& of, const double* amount) {
    of.each_row(2, [&](i64 i, i64 begin, i64 end) {
        double* row = into[i];
        for (i64 e = begin; e < end; ++e) {
            row[of.better(e)] += amount[e];
            row[of.worse(e)] -= amount[e];
        }
    });
}

namespace {

void row_margins(const double* mine, Matrix<const double> right, const Comparisons& of, i64 begin, i64 end,
                 double* __restrict out) {
    const i64 rank = right.columns;
    for (i64 e = begin; e < end; ++e) {
        const double *better = right[of.better(e)], *worse = right[of.worse(e)];
        double found = 0.0;
        for (i64 a = 0; a < rank; ++a) found += mine[a] * (better[a] - worse[a]);
        out[e] = found;
    }
}

// The pulls of a row's comparisons; what is added to is told to be no part of what is read.
void pull_row(const double* mine, Matrix<const double> right, const Comparisons& of, const double* amount, i64 begin,
              i64 end, double* __restrict to_mine, double* __restrict to_right) {
    const i64 rank = right.columns;
    for (i64 e = begin; e < end; ++e) {
        const i64 j = of.better(e) * rank, k = of.worse(e) * rank;
        for (i64 a = 0; a < rank; ++a) {
            to_mine[a] += amount[e] * (right.data[j + a] - right.data[k + a]);
            const double push = amount[e] * mine[a];
            to_right[j + a] += push;
            to_right[k + a] -= push;
        }
    }
}

// The same along a direction.
void pull_row_along(const double* mine, Matrix<const double> right, const Comparisons& of, const double* slope,
                    const double* bend, i64 begin, i64 end, double* __restrict to_mine, double* __restrict to_right) {
    const i64 rank = right.columns / 2;
    for (i64 e = begin; e < end; ++e) {
        const i64 j = of.better(e), k = of.worse(e);
        const double *better = right[j], *worse = right[k];
        double change = 0.0;
        for (i64 a = 0; a < 2 * rank; ++a) change += mine[a] * (better[a] - worse[a]);
        change *= bend[e];
        for (i64 a = 0; a < rank; ++a) {
            to_mine[a] += change * (better[a] - worse[a]) + slope[e] * (better[rank + a] - worse[rank + a]);
            const double push = change * mine[rank + a] + slope[e] * mine[a];
            to_right[j * rank + a] += push;
            to_right[k * rank + a] -= push;
        }
    }
}

} // namespace

void margins(const Factors& x, const Comparisons& of, double* out) {
    of.each_row(1 + 2 * x.left.columns,
                [&](i64 i, i64 begin, i64 end) { row_margins(x.left[i], x.right, of, begin, end, out); });
}

void pull(const Factors& x, const Comparisons& of, const double* amount, const FactorSums& to) {
    of.each_row(1 + 4 * x.left.columns, [&](i64 i, i64 begin, i64 end) {
        pull_row(x.left[i], x.right, of, amount, begin, end, to.left[i], to.right.data);
    });
}

void pull_along(const Factors& x, const Comparisons& of, const double* slope, const double* bend,
                const FactorSums& to) {
    of.each_row(1 + 8 * x.left.columns, [&](i64 i, i64 begin, i64 end) {
        pull_row_along(x.left[i], x.right, of, slope, bend, begin, end, to.left[i], to.right.data);
    });
}

} // namespace optiframe::manifold
