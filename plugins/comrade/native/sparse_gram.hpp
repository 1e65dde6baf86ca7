// The weighted Gram matrix of sparse rows.
#pragma once

#include <cstdint>
#include <span>

namespace optiframe::comrade {

// A matrix by rows, as SciPy stores it.
struct SparseRows {
    std::span<const double> data;
    std::span<const std::int32_t> indices; // columns, rising in each row
    std::span<const std::int32_t> indptr;  // where each row begins; one more than rows
};

// Adds the upper triangle of the sum of weight times row times row to a matrix of columns x columns.
void sparse_gram(SparseRows rows, std::span<const double> weights, double* total, std::size_t columns);

} // namespace optiframe::comrade
