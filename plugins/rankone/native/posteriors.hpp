// EM for confusion matrices with a prior: expected counts, and the posteriors of the tasks.
#pragma once

#include "labels.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace optiframe::rankone {

using Weights = std::span<const double>; // how many times each label counts; empty: each once

// Of each worker: how often each label is expected on each class, [label][class] of one worker after another.
struct Counts {
    Counts(std::span<const double> given, std::size_t workers, std::size_t classes);

    std::size_t classes;
    std::span<const double> given; // workers x classes x classes
    std::vector<double> of_class;  // summed over labels, workers x classes
    std::vector<double> right;     // where label and class agree, summed, one a worker
    std::vector<double> all;       // one a worker
};

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
                         const Counts& counts, const Prior& prior, std::span<double> posterior);

} // namespace optiframe::rankone
