// Passes over comparisons and over blocks of rows.
//
// A block is some consecutive rows of an m x n matrix; `Comparisons` says which entries of each row are
// compared. Results are written where the last arguments say. Any pass ends with an exception soon after
// Ctrl-C, and what it writes is then incomplete.
#pragma once

#include <optiframe/arrays.hpp>

#include <cstdint>
#include <span>

namespace optiframe::manifold {

using i64 = std::int64_t;
using i32 = std::int32_t;
using Numbers = std::span<const double>;

// Rows of equal length, one after another.
template <class T> struct Matrix {
    T* data;
    i64 rows, columns;

    T* operator[](i64 row) const { return data + row * columns; }
};

// Comparisons pointer[i] to pointer[i + 1] are of row i, each between two of the items.
struct Comparisons {
    i64 items;
    std::span<const i64> pointer;
    std::span<const i32> winner, loser;

    i64 better(i64 e) const { return static_cast<i64>(place(winner, e, items)); }
    i64 worse(i64 e) const { return static_cast<i64>(place(loser, e, items)); }

    // one(i, begin, end) for the comparisons of every row, in parts short enough for Ctrl-C between them.
    // `steps`, at least 1, is what a comparison costs, in nanoseconds or so.
    template <class Part> void each_row(i64 steps, Part one) const {
        interrupt::Pace pace;
        each_group(pointer, static_cast<i64>(winner.size()), [&](i64 i, i64 begin, i64 end) {
            pace.in_blocks(begin, end, steps, [&](i64 from, i64 to) { one(i, from, to); });
        });
    }
};

// First and second derivatives of the loss by each margin.
struct Derivatives {
    std::span<double> slope, bend;
};

// Of scale exp(X^2 - shift); growth is the relative change of 1/scale along a direction.
template <class T> struct Exponents {
    T shift, scale, growth;
};

// Sum of w log(1 + exp(-margin/sigma)), and its derivatives; no weights stand for ones.
double log_loss(Numbers margin, double sigma, Numbers weight, Derivatives to);

// What each comparison's two entries of a block differ by, and its transpose.
void gather(Matrix<const double> x, const Comparisons& of, double* out);
void spread(Matrix<double> into, const Comparisons& of, const double* amount);

// What each comparison's two entries of left @ right.T differ by; products with the sparse matrix of
// amounts, S right and S' left; and how those change along a direction.
struct Factors {
    Matrix<const double> left, right;
};
struct FactorSums {
    Matrix<double> left, right;
};
void margins(const Factors& x, const Comparisons& of, double* out);
void pull(const Factors& x, const Comparisons& of, const double* amount, const FactorSums& to);
void pull_along(const Factors& x, const Comparisons& of, const double* slope, const double* bend, const FactorSums& to);

// Sum of exp(x^2 - shift); in `exp_terms` entries become x exp(x^2 - shift).
double exp_sum(Matrix<const double> x, double shift);
double exp_terms(Matrix<double> x, double shift);

// Entries become the gradient by them, and d, their change, how that changes: row by row, while a row is
// in the first cache.
template <class T>
void bend_rows(Matrix<T> x, Matrix<T> d, Exponents<T> exponents, const Comparisons& of, const T* slope, const T* bend);

} // namespace optiframe::manifold
