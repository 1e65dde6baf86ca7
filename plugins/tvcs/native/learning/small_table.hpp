// A linear model of a dense table: its values and gradients, and fits on a few columns.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "dense.hpp"

namespace optiframe::tvcs::fits {

using Indices = std::vector<std::int32_t>; // of columns, rising

enum class Loss { least_squares, logistic, squared_hinge };

// A point that is zero but for a few entries.
struct Point {
    Indices at;
    Numbers values;
};

struct SmallTable {
    const double* matrix;
    std::size_t rows, columns, row_step, column_step; // one of the steps is 1
    const double *target, *weights; // of rows; the weights sum to 1
    Loss loss;
    const double* ridge; // weights of half the squares of entries
    Lapack lapack;

    // The weighted sum of the losses of predictions, and the derivatives of what each row adds to it.
    double losses(const Numbers& z, Numbers& slopes, Numbers& bends) const;
    // These columns, one after another.
    Numbers block(const Indices& at) const;
    Numbers predictions(const Point& x) const;
    double penalty(const Point& x) const;
    double value(const Point& x) const;
    // matrix' of these, and the slope of the penalty.
    Numbers gradient(const Point& x, const Numbers& slopes) const;

    // Newton's method over the entries of `start`, as `newton_method` of learning/restricted.py, which says what the
    // others are; none where a Hessian is nearly singular.
    std::optional<Point> fit(const Point& start, double accuracy, double least, Numbers hessian) const;
};

} // namespace optiframe::tvcs::fits
