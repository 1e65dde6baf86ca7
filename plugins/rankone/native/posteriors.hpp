// EM for confusion matrices with a prior: expected counts, and the posteriors of the tasks.
#pragma once

#include "labels.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace optiframe::rankone {

using Weights = std::span<const double>; // how many times each label counts; empty: each once

// What all workers have in common.
struct Prior {
    double right, labels;           // a and a + b of the abilities' Beta distribution
    double strength;                // labels that the prior of a row counts
    std::span<const double> odds;   // of being right on each class, over those on average
    std::span<const double> errors; // chance of each label where a label is wrong, [label][class]
    std::span<const double> shares; // expected number of tasks of each class; empty for equal ones
    bool without_own;              // whether a label's own part of the counts is left out
};

// Sums of the posteriors of the tasks to which a worker gave a label: workers x classes x classes.
Room<double> count_classes(const Labels& labels, Weights weight, std::span<const double> posterior);

// New posteriors, tasks x classes, of tasks whose class is not known; their largest change.
double pooled_posteriors(const Labels& labels, Weights weight, std::span<const std::uint8_t> known,
                         std::span<const double> counts, const Prior& prior, std::span<double> posterior);

} // namespace optiframe::rankone
