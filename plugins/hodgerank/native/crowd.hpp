// Votes in order of their workers, and passes over them: what they say of each worker, and of the scores.
#pragma once

#include "merging.hpp"

namespace optiframe::hodgerank {

inline constexpr i64 shares = 11;        // 0, .1, ..., 1: the grid of the share of a worker's votes that are by the scores
inline constexpr double clip = 30.0;     // differences of scores beyond are as good as infinite

struct WorkerVotes {
    std::span<const i64> winner, loser;
    std::span<const double> weight;
    std::span<const i64> first; // votes of worker w are first[w] to first[w + 1]

    i64 votes() const { return static_cast<i64>(winner.size()); }
    i64 workers() const { return static_cast<i64>(first.size()) - 1; }
};

// Chance of each vote by the scores to `chance`; log of the likelihood of each worker's votes given each share
// to `log_likelihood`, in rows of `shares`.
void crowd_likelihoods(const WorkerVotes& votes, std::span<const double> scores, double* chance, double* log_likelihood);

// Slope of minus the log-likelihood in the scores, a row of `items` for each group of workers, and its curvature in
// the difference of each pair with beliefs held; both are added to.
void crowd_slopes(const WorkerVotes& votes, std::span<const i64> pair, std::span<const i64> group, const double* chance,
                  const double* belief, double least, std::span<double> slope, i64 items, std::span<double> curve);

// Adds the variance of each worker's part of that slope over what their share may be to the lower half of a matrix.
void crowd_doubt(const WorkerVotes& votes, const double* chance, const double* belief, double least, double* matrix,
                 i64 items);

// Rows that are no ties as votes in order of their workers, each of nobody after all of them; `weight` is empty where
// each counts 1. `merged` is the merged row of each row, and `pair` the pair of each merged row.
struct ByWorker {
    Room<i64> winner, loser, pair;
    Room<double> weight;
    std::vector<i64> first, code; // of the workers who cast a vote, and the end
};
ByWorker votes_by_worker(i64 workers, std::span<const i64> worker, const Comparisons& rows, std::span<const double> weight,
                         std::span<const i64> merged, std::span<const i64> pair);

} // namespace optiframe::hodgerank
