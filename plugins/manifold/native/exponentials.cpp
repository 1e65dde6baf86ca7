// The loss of margins and the exponentials of a block's entries, in loops that vectorize.
#include "passes.hpp"

#include <algorithm>
#include <cmath>

#include <optiframe/dispatch.hpp>
#include <optiframe/lanes.hpp>
#include <optiframe/vector_math.hpp>

namespace optiframe::manifold {

OPTIFRAME_CLONES double log_loss(Numbers margin, double sigma, Numbers weight, Derivatives to) {
    double sums[side_by_side] = {}, heavy[side_by_side];
    std::fill_n(heavy, side_by_side, 1.0);
    const double to_sigma = 1.0 / sigma;
    const i64 n = static_cast<i64>(margin.size());
    interrupt::Pace pace;
    for (i64 first = 0; first < n; first += side_by_side) {
        const i64 count = std::min(side_by_side, n - first);
        if (!weight.empty()) std::copy_n(weight.data() + first, count, heavy);
        const double* __restrict m = margin.data() + first;
        double *__restrict slope = to.slope.data() + first, *__restrict bend = to.bend.data() + first;
        for (i64 j = 0; j < count; ++j) {
            const double z = m[j] * to_sigma, t = exp(-std::abs(z)), share = 1.0 / (1.0 + t);
            slope[j] = -to_sigma * heavy[j] * (z < 0.0 ? share : t * share);
            bend[j] = to_sigma * to_sigma * heavy[j] * (t * share * share);
            sums[j] += heavy[j] * (0.5 * (std::abs(z) - z) + log1p(t));
        }
        pace.after(count);
    }
    return total(sums);
}

OPTIFRAME_CLONES double exp_sum(Matrix<const double> x, double shift) {
    double sums[side_by_side] = {};
    interrupt::Pace pace;
    for (i64 i = 0; i < x.rows; ++i)
        for (i64 first = 0; first < x.columns; first += side_by_side) {
            const double* part = x[i] + first;
            const i64 count = std::min(side_by_side, x.columns - first);
            for (i64 j = 0; j < count; ++j) sums[j] += exp(part[j] * part[j] - shift);
            pace.after(count);
        }
    return total(sums);
}

OPTIFRAME_CLONES double exp_terms(Matrix<double> x, double shift) {
    double sums[side_by_side] = {};
    interrupt::Pace pace;
    for (i64 i = 0; i < x.rows; ++i)
        for (i64 first = 0; first < x.columns; first += side_by_side) {
            double* __restrict part = x[i] + first;
            const i64 count = std::min(side_by_side, x.columns - first);
            for (i64 j = 0; j < count; ++j) {
                const double grown = exp(part[j] * part[j] - shift);
                sums[j] += grown;
                part[j] *= grown;
            }
            pace.after(count);
        }
    return total(sums);
}

namespace {

template <class T>
[[gnu::always_inline]] inline void bend(T* __restrict x, T* __restrict d, i64 columns, Exponents<T> of) {
    for (i64 j = 0; j < columns; ++j) {
        const T entry = x[j], along = d[j], grown = of.scale * exp(entry * entry - of.shift);
        x[j] = entry * grown;
        d[j] = grown * (along + entry * (T{2} * entry * along - of.growth));
    }
}

// Two functions and not one template: the compiler makes no copies for processors of a template.
OPTIFRAME_CLONES void bend_row(double* x, double* d, i64 columns, Exponents<double> of) { bend(x, d, columns, of); }
OPTIFRAME_CLONES void bend_row(float* x, float* d, i64 columns, Exponents<float> of) { bend(x, d, columns, of); }

} // namespace

template <class T>
void bend_rows(Matrix<T> x, Matrix<T> d, Exponents<T> exponents, const Comparisons& of, const T* slope, const T* bend) {
    Room<T> turn; // of each comparison of a row, for as many as the longest row so far has
    i64 longest = 0;
    interrupt::Pace pace;
    each_group(of.pointer, static_cast<i64>(of.winner.size()), [&](i64 i, i64 begin, i64 end) {
        T *entries = x[i], *change = d[i];
        if (end - begin > longest) turn = room<T>(longest = end - begin);
        pace.in_blocks(begin, end, 2, [&](i64 from, i64 to) {
            for (i64 e = from; e < to; ++e) turn[e - begin] = bend[e] * (change[of.better(e)] - change[of.worse(e)]);
        });
        pace.in_blocks(0, x.columns, 1, [&](i64 from, i64 to) {
            bend_row(entries + from, change + from, to - from, exponents);
        });
        pace.in_blocks(begin, end, 2, [&](i64 from, i64 to) {
            for (i64 e = from; e < to; ++e) {
                const i64 j = of.better(e), k = of.worse(e);
                change[j] += turn[e - begin];
                change[k] -= turn[e - begin];
                entries[j] += slope[e];
                entries[k] -= slope[e];
            }
        });
    });
}

template void bend_rows(Matrix<double>, Matrix<double>, Exponents<double>, const Comparisons&, const double*,
                        const double*);
template void bend_rows(Matrix<float>, Matrix<float>, Exponents<float>, const Comparisons&, const float*, const float*);

} // namespace optiframe::manifold
