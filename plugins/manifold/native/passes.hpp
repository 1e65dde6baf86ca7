// Passes over comparisons and over blocks of rows.
//
// A block is some consecutive rows of an m x n matrix; `Comparisons` says which entries of each row are
// compared. Results are written where the last arguments say.
#pragma once

#include <cstdint>

namespace optiframe::manifold {

using i64 = std::int64_t;
using i32 = std::int32_t;

// Comparisons pointer[i] to pointer[i + 1] are of row i, each between two items.
struct Comparisons {
    i64 rows;
    const i64* pointer;
    const i32 *winner, *loser;
};

// Of scale exp(X^2 - shift); growth is the relative change of 1/scale along a direction.
template <class T> struct Exponents {
    T shift, scale, growth;
};

// Sum of w log(1 + exp(-margin/sigma)), its first and second derivatives; no weights stand for ones.
double log_loss(const double* margin, double sigma, const double* weight, double* slope, double* bend, i64 n);

// What each comparison's two entries of a block differ by, and its transpose.
void gather(const double* x, i64 columns, const Comparisons& of, double* out);
void spread(double* into, i64 columns, const Comparisons& of, const double* amount);

// What each comparison's two entries of left @ right.T differ by; products with the sparse matrix of
// amounts, S right and S' left; and how those change along a direction.
void margins(const double* left, const double* right, i64 rank, const Comparisons& of, double* out);
void pull(const double* left, const double* right, i64 rank, const Comparisons& of, const double* amount,
          double* to_left, double* to_right);
void pull_along(const double* left, const double* right, i64 rank, const Comparisons& of, const double* slope,
                const double* bend, double* to_left, double* to_right);

// Sum of exp(x^2 - shift); in `exp_terms` entries become x exp(x^2 - shift).
double exp_sum(const double* x, i64 rows, i64 columns, double shift);
double exp_terms(double* x, i64 rows, i64 columns, double shift);

// Entries become the gradient by them, and d, their change, how that changes: row by row, while a row is
// in the first cache.
template <class T>
void bend_rows(T* x, T* d, i64 columns, Exponents<T> exponents, const Comparisons& of, const T* slope, const T* bend);

} // namespace optiframe::manifold
