// The rows of a comparison graph, grouped by pair of items, and passes over them.
#pragma once

#include "merging.hpp"

namespace optiframe::hodgerank {

class RowsByPair {
public:
    // Of rows whose codes are below items, which is checked.
    RowsByPair(i64 items, const Comparisons& rows, std::span<const double> weight);

    // Pairs first_pair[i] to first_pair[i + 1] have item i on the left and the items `other` on the right;
    // rows first_row[p] to first_row[p + 1] are of pair p, whose weights sum to whole[p].
    const std::vector<i64>& first_pair() const { return first_pair_; }
    const std::vector<i32>& other() const { return other_; }
    const std::vector<i64>& first_row() const { return first_row_; }
    std::span<const double> margin() const { return {margin_.get(), static_cast<std::size_t>(rows())}; }
    std::span<const double> weight() const { return {weight_.get(), static_cast<std::size_t>(rows())}; }
    const std::vector<double>& whole() const { return whole_; }

    i64 items() const { return static_cast<i64>(first_pair_.size()) - 1; }
    i64 pairs() const { return static_cast<i64>(other_.size()); }
    i64 rows() const { return first_row_.back(); }

    // Huber's loss with threshold `level`; of each pair the weight of the rows within the threshold, and
    // `anchor` times that of the others, goes to `kept`, and what pulls at each item to `force`.
    double huber(double level, std::span<const double> scores, double anchor, std::span<double> kept,
                 std::span<double> force) const;

    // The diagonal of the Laplacian of pairs of weight `kept`, and that Laplacian times v.
    void degrees(std::span<const double> kept, std::span<double> degree) const;
    void laplacian_product(std::span<const double> kept, std::span<const double> v, std::span<double> product) const;

    // Number of components of the graph of the pairs of which more than the share `least` is kept.
    i64 parts(std::span<const double> kept, double least) const;

private:
    std::vector<i64> first_pair_, first_row_;
    std::vector<i32> other_;
    Room<double> margin_, weight_;
    std::vector<double> whole_;
};

} // namespace optiframe::hodgerank
