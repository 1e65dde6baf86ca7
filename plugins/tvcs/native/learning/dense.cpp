#include "dense.hpp"

#include <algorithm>
#include <numeric>

#include <optiframe/dispatch.hpp>

namespace optiframe::tvcs::fits {

namespace {

constexpr double pivot = 1e-10, smallest = 1e-280; // as in problems/objectives/normal_equations.py, which says why

OPTIFRAME_CLONES double sum_of_products(const double* __restrict a, const double* __restrict b, std::size_t n) {
    constexpr std::size_t lanes = 16;
    double sums[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    for (; i < n; ++i) sums[0] += a[i] * b[i];
    return std::reduce(sums, sums + lanes);
}

OPTIFRAME_CLONES void add_products(double times, const double* __restrict a, double* __restrict into, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) into[i] += times * a[i];
}

} // namespace

double dot(std::span<const double> a, const double* b) { return sum_of_products(a.data(), b, a.size()); }

void add(double times, const double* column, std::span<double> into) {
    add_products(times, column, into.data(), into.size());
}

std::optional<Numbers> Lapack::solved(Numbers matrix, Numbers right, std::size_t rows) const {
    Numbers diagonal(rows);
    for (std::size_t j = 0; j < rows; ++j) diagonal[j] = matrix[j * (rows + 1)];
    char lower = 'L';
    int n = static_cast<int>(rows), columns = static_cast<int>(right.size() / rows), failed = 0;
    dposv(&lower, &n, &columns, matrix.data(), &n, right.data(), &n, &failed);
    if (failed) return std::nullopt;
    for (std::size_t j = 0; j < rows; ++j) {
        const double factor = matrix[j * (rows + 1)];
        if (!(factor * factor > std::max(pivot * diagonal[j], smallest))) return std::nullopt; // nan, too
    }
    return right;
}

std::optional<Numbers> Lapack::inverse(Numbers matrix, std::size_t rows) const {
    Numbers identity(rows * rows, 0.0);
    for (std::size_t j = 0; j < rows; ++j) identity[j * (rows + 1)] = 1.0;
    return solved(std::move(matrix), std::move(identity), rows);
}

void Lapack::product(bool turned, const double* left, const Numbers& right, std::size_t along, Numbers& into) const {
    char left_as = turned ? 'T' : 'N', right_as = 'N';
    int depth = static_cast<int>(along), n = static_cast<int>(right.size() / along);
    int m = n == 0 ? 0 : static_cast<int>(into.size() / static_cast<std::size_t>(n));
    int apart = turned ? depth : m;
    double one = 1.0, zero = 0.0;
    dgemm(&left_as, &right_as, &m, &n, &depth, &one, const_cast<double*>(left), &apart,
          const_cast<double*>(right.data()), &depth, &zero, into.data(), &m);
}

} // namespace optiframe::tvcs::fits
