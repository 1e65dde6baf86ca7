// Votes counted by pair, and how unlikely a worker's use of left and right is.
#pragma once

#include "merging.hpp"

namespace optiframe::hodgerank {

struct Tally {
    std::span<const i64> left, right;
    std::span<const double> won, lost;
};

// Minus the log-likelihood of Bradley-Terry, with `extra` ties on every pair counted as half a win of each: its
// value; slope in each item's score and curvature in each pair's difference are written.
double bradley_terry_terms(const Tally& votes, double extra, std::span<const double> scores, std::span<double> slope,
                           std::span<double> curve);

// The Laplacian of pairs with these weights times v, to `product`.
void laplacian_product(std::span<const i64> left, std::span<const i64> right, std::span<const double> weight,
                       std::span<const double> v, std::span<double> product);

// Two-sided p of a sum of three binomial numbers of each worker: `trials`, `share` and `seen` in rows of three.
void sides_p(std::span<const i64> trials, std::span<const double> share, std::span<const i64> seen, std::span<double> p);

} // namespace optiframe::hodgerank
