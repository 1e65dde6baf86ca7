// The loss of margins and the exponentials of a block's entries, in loops that vectorize.
#include "passes.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <optiframe/dispatch.hpp>
#include <optiframe/vector_math.hpp>

namespace optiframe::manifold {

namespace {

// Numbers summed side by side, 4 KB: the result does not depend on how wide the processor's vectors are.
constexpr i64 lanes = 512;

double total(const double (&sums)[lanes]) {
    double found = 0.0;
    for (const double each : sums) found += each;
    return found;
}

} // namespace

OPTIFRAME_CLONES double log_loss(const double* __restrict margin, double sigma, const double* __restrict weight,
                                 double* __restrict slope, double* __restrict bend, i64 n) {
    double sums[lanes] = {}, heavy[lanes];
    std::fill_n(heavy, lanes, 1.0);
    const double to_sigma = 1.0 / sigma;
    for (i64 first = 0; first < n; first += lanes) {
        const i64 count = std::min(lanes, n - first);
        if (weight) std::copy_n(weight + first, count, heavy);
        const double* m = margin + first;
        double *s = slope + first, *b = bend + first;
        for (i64 j = 0; j < count; ++j) {
            const double z = m[j] * to_sigma, t = exp(-std::abs(z)), share = 1.0 / (1.0 + t);
            s[j] = -to_sigma * heavy[j] * (z < 0.0 ? share : t * share);
            b[j] = to_sigma * to_sigma * heavy[j] * (t * share * share);
            sums[j] += heavy[j] * (0.5 * (std::abs(z) - z) + log1p(t));
        }
    }
    return total(sums);
}

OPTIFRAME_CLONES double exp_sum(const double* x, i64 rows, i64 columns, double shift) {
    double sums[lanes] = {};
    for (i64 i = 0; i < rows; ++i)
        for (i64 first = 0; first < columns; first += lanes) {
            const double* part = x + i * columns + first;
            const i64 count = std::min(lanes, columns - first);
            for (i64 j = 0; j < count; ++j) sums[j] += exp(part[j] * part[j] - shift);
        }
    return total(sums);
}

OPTIFRAME_CLONES double exp_terms(double* x, i64 rows, i64 columns, double shift) {
    double sums[lanes] = {};
    for (i64 i = 0; i < rows; ++i)
        for (i64 first = 0; first < columns; first += lanes) {
            double* __restrict part = x + i * columns + first;
            const i64 count = std::min(lanes, columns - first);
            for (i64 j = 0; j < count; ++j) {
                const double grown = exp(part[j] * part[j] - shift);
                sums[j] += grown;
                part[j] *= grown;
            }
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
void bend_rows(T* x, T* d, i64 columns, Exponents<T> exponents, const Comparisons& of, const T* slope, const T* bend) {
    std::vector<T> turn;
    for (i64 i = 0; i < of.rows; ++i) {
        const i64 begin = of.pointer[i], end = of.pointer[i + 1];
        T *entries = x + i * columns, *change = d + i * columns;
        turn.resize(end - begin);
        for (i64 e = begin; e < end; ++e) turn[e - begin] = bend[e] * (change[of.winner[e]] - change[of.loser[e]]);
        bend_row(entries, change, columns, exponents);
        for (i64 e = begin; e < end; ++e) {
            const i32 j = of.winner[e], k = of.loser[e];
            change[j] += turn[e - begin];
            change[k] -= turn[e - begin];
            entries[j] += slope[e];
            entries[k] -= slope[e];
        }
    }
}

template void bend_rows(double*, double*, i64, Exponents<double>, const Comparisons&, const double*, const double*);
template void bend_rows(float*, float*, i64, Exponents<float>, const Comparisons&, const float*, const float*);

} // namespace optiframe::manifold
