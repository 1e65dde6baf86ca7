#include "sparse_gram.hpp"

#include <optiframe/interrupt.hpp>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace optiframe::comrade {
namespace {

struct Entry {
    std::int32_t column;
    double value;
};

// Copies a row, so that no other thread can change a column between its check and its use.
void read_row(const SparseRows& rows, std::size_t first, std::size_t last, std::size_t columns,
              std::vector<Entry>& row) {
    row.clear();
    std::int64_t before = -1;
    for (std::size_t k = first; k < last; ++k) {
        const std::int32_t column = rows.indices[k];
        if (column <= before || static_cast<std::size_t>(column) >= columns)
            throw std::invalid_argument("indices must rise in each row and be columns of total");
        before = column;
        row.push_back({column, rows.data[k]});
    }
}

} // namespace

void sparse_gram(SparseRows rows, std::span<const double> weights, double* total, std::size_t columns) {
    std::vector<Entry> row;
    interrupt::Pace pace;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const std::int64_t first = rows.indptr[i], last = rows.indptr[i + 1];
        if (first < 0 || last < first || last > static_cast<std::int64_t>(rows.indices.size()))
            throw std::invalid_argument("indptr must rise from 0 to the number of entries");
        read_row(rows, first, last, columns, row);
        for (auto one = row.begin(); one != row.end(); ++one) {
            const double scaled = weights[i] * one->value;
            double* into = total + static_cast<std::size_t>(one->column) * columns;
            for (auto other = one; other != row.end(); ++other) into[other->column] += scaled * other->value;
            pace.after(row.end() - one);
        }
    }
}

} // namespace optiframe::comrade
