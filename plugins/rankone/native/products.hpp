// Sums over pairs of workers out of the labels, without any matrix of pairs.
#pragma once

#include "labels.hpp"

namespace optiframe::rankone {

// What the labels of a task say of a worker's skill: see reference.py.
struct Pulls {
    std::span<double> pull, curvature; // of each worker, zero before
};
void label_pulls(const Labels& labels, std::span<const double> x, Pulls into);

// N x: to each worker, the skills of the others on the same tasks; `sums` is zero before.
void label_weights(const Labels& labels, std::span<const double> x, std::span<double> sums);

// Of each worker, over the own labels: the others' squared skills, the pulls, and their squares; zero before.
struct PullSums {
    std::span<double> curvature, total, squares;
};

// The pull of each label, where `pull` has room for them, and sums for each worker.
void task_pulls(const Labels& labels, std::span<const double> x, std::span<double> pull, PullSums sums);

} // namespace optiframe::rankone
