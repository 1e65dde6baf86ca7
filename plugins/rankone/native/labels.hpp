// Labels of a crowd: their order, and the vote.
#pragma once

#include "memory.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace optiframe::rankone {

using Codes = std::span<const std::int32_t>; // of tasks, workers or labels, from 0
using Firsts = std::span<const std::int64_t>; // where the labels of each task begin, and their number

// Labels task by task: those of task t are the ones from first[t] up to first[t + 1].
struct Labels {
    Firsts first;
    Codes worker, label;

    std::size_t tasks() const { return first.size() - 1; }
};

// How many of something there are, and which one each label has.
struct Coded {
    Codes codes;
    std::size_t count;
};

struct SortedLabels {
    Room<std::int32_t> task, worker, label;
};

// Labels in the order of task and then worker; of equal ones in their own order.
SortedLabels sort_labels(Coded task, Coded worker, Codes label);

// The weights of the workers who gave each class of each task, summed: a matrix of tasks x classes.
Room<double> vote(const Labels& labels, std::span<const double> weight, std::size_t classes);

} // namespace optiframe::rankone
