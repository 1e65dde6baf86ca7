// Labels of a crowd: their order, and the vote.
#pragma once

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

// Rows in the order of task and then worker; of equal ones in their own order.
std::vector<std::int64_t> order(Coded task, Coded worker);

// Adds to each class of each task, `scores`, the weights of the workers who gave it.
void vote(const Labels& labels, std::span<const double> weight, std::size_t classes, std::span<double> scores);

} // namespace optiframe::rankone
