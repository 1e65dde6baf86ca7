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

// The tasks shared by every pair and their correlations (Lemma 7), 0 where there is none: matrices of workers x
// workers. Workers must rise within each task.
struct PairTable {
    Room<double> shared, correlation;
};
PairTable count_table(const Labels& labels);

// Sparse N and C by rows.
struct KnownPairs {
    std::span<const std::int32_t> start, column;
    std::span<const double> known, target;
};

// Sum of N_ij (C_ij - x_i x_j)^2 over the entries.
double misses(const KnownPairs& pairs, std::span<const double> x);

// Each entry of x in turn to the value that is best for it while the others stay, within its bounds.
struct Box {
    std::span<const double> lower, upper;
};
// Their largest move, for sparse pairs whose `target` is N * C, and for matrices of x by x.
double sweep(const KnownPairs& pairs, std::span<double> x, const Box& box);
double sweep_dense(const double* known, const double* weighted, std::span<double> x, const Box& box);

} // namespace optiframe::rankone
