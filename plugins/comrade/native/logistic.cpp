#include "logistic.hpp"

#include <optiframe/dispatch.hpp>
#include <optiframe/interrupt.hpp>
#include <optiframe/lanes.hpp>
#include <optiframe/vector_math.hpp>

#include <algorithm>
#include <cmath>

namespace optiframe::comrade {
namespace {

// Margins beyond have no second derivative: exp gives no number smaller than exp(-708), and a Newton step
// by a Hessian of such would overflow where it should be zero.
constexpr double flat = 708.0;

OPTIFRAME_CLONES void add_rows(const double* __restrict z, const double* __restrict y, double* __restrict slopes,
                               double* __restrict roots, double* __restrict sums, std::int64_t rows) {
    for (std::int64_t j = 0; j < rows; ++j) {
        const double margin = y[j] * z[j], size = std::abs(margin);
        const double t = size > flat ? 0.0 : exp(-size); // nan for nan
        const double share = 1.0 / (1.0 + t);
        slopes[j] = -y[j] * (margin < 0.0 ? share : t * share);
        roots[j] = std::sqrt(t) * share;
        sums[j] += 0.5 * (size - margin) + log1p(t);
    }
}

OPTIFRAME_CLONES void scale_row(const double* __restrict row, double root, float* __restrict into, std::size_t columns) {
    for (std::size_t j = 0; j < columns; ++j) into[j] = static_cast<float>(root * row[j]);
}

} // namespace

double logistic(std::span<const double> predictions, std::span<const double> target, Derivatives into) {
    double sums[side_by_side] = {};
    interrupt::Pace pace;
    const std::int64_t n = static_cast<std::int64_t>(predictions.size());
    for (std::int64_t first = 0; first < n; first += side_by_side) {
        const std::int64_t rows = std::min(side_by_side, n - first);
        add_rows(&predictions[first], &target[first], &into.slopes[first], &into.roots[first], sums, rows);
        pace.after(rows);
    }
    return total(sums);
}

void scale(const double* block, std::span<const double> roots, float* into, std::size_t columns) {
    interrupt::Pace pace;
    for (std::size_t i = 0; i < roots.size(); ++i) {
        scale_row(block + i * columns, roots[i], into + i * columns, columns);
        pace.after(static_cast<std::int64_t>(columns));
    }
}

} // namespace optiframe::comrade
