// Pairs of workers: how often they met and agreed, and how far skills are from their correlations.
#pragma once

#include "labels.hpp"

namespace optiframe::rankone {

// A symmetric sparse matrix by rows, columns rising; nothing on the diagonal.
struct PairCounts {
    std::vector<std::int32_t> start; // of each row, and the number of entries
    Room<std::int32_t> column;
    Room<double> shared, agreed; // tasks labelled by both, and those with one label from both
};

// Labels in order of task and then worker, no worker twice in a task: copies, as counts lead to places.
class SortedByWorker {
public:
    explicit SortedByWorker(const Labels& labels);

    Labels labels() const;

private:
    std::vector<std::int64_t> first_;
    std::vector<std::int32_t> worker_, label_;
    std::size_t workers_;
};

// Pairs that met.
PairCounts count_pairs(const SortedByWorker& given);

// The same for every pair, as matrices of workers x workers.
struct CountTable {
    Room<double> shared, agreed;
};
CountTable count_table(const SortedByWorker& given);

// Sparse N and C by rows.
struct KnownPairs {
    std::span<const std::int32_t> start, column;
    std::span<const double> known, target;
};

// Sum of N_ij (C_ij - x_i x_j)^2 over the entries.
double misses(const KnownPairs& pairs, std::span<const double> x);

} // namespace optiframe::rankone
