// A multigrid cycle that nearly solves a graph's Laplacian, for conjugate gradients.
//
// Smoothed aggregation: neighbours are grouped, the groups' indicator vectors smoothed by one damped
// Jacobi step are the columns of P, and P'LP is the Laplacian of a smaller graph, which is treated
// likewise. Each level is smoothed by Gauss-Seidel, forward before and backward after the smaller one,
// which makes the cycle symmetric. Single precision is enough: conjugate gradients correct what it loses.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "rows.hpp"

namespace optiframe::hodgerank {

// A sparse matrix by rows.
template <class T> struct Sparse {
    std::vector<i64> first;
    std::vector<i32> column;
    std::vector<T> value;

    i64 rows() const { return static_cast<i64>(first.size()) - 1; }
    i64 entries() const { return static_cast<i64>(column.size()); }
};

class Multigrid {
public:
    // The cycle of the graph of all rows; nothing where smaller graphs have too many edges, as those of
    // random graphs have.
    static std::optional<Multigrid> of(const RowsByPair& rows);

    // The weights of the smallest graph, whose Laplacian is for the caller to invert.
    const Sparse<double>& smallest() const { return smallest_; }

    // About L^+ b, up to constants of the components; `inverse` is that of the smallest graph, by rows.
    void cycle(std::span<const float> b, std::span<const float> inverse, std::span<float> x) const;

    i64 nodes() const { return levels_.empty() ? smallest_.rows() : levels_.front().edges.rows(); }

private:
    struct Level {
        Sparse<float> edges;      // to earlier nodes
        std::vector<float> scale; // 1/degree
        Sparse<float> prolongation;
        i64 groups;
    };

    void cycle(std::size_t at, std::span<const float> b, std::span<const float> inverse, std::span<float> x) const;

    std::vector<Level> levels_;
    Sparse<double> smallest_;
};

} // namespace optiframe::hodgerank
