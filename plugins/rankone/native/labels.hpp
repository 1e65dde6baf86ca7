// Labels of a crowd: their order, and the vote.
#pragma once

#include <optiframe/arrays.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace optiframe::rankone {

using Codes = std::span<const std::int32_t>; // of tasks, workers or labels, from 0
using Firsts = std::span<const std::int64_t>; // where the labels of each task begin, and their number

// Labels task by task: those of task t are the ones from first[t] up to first[t + 1]. Codes are checked as
// they are read, as another thread may change them.
struct Labels {
    Firsts first;
    Codes worker, label;
    std::size_t workers, classes;

    std::size_t tasks() const { return first.size() - 1; }
    std::size_t worker_of(std::int64_t k) const { return place(worker, k, workers); }
    std::size_t label_of(std::int64_t k) const { return place(label, k, classes); }

    // Runs one(t, begin, end) for the labels from begin to end of each task t.
    template <class Task> void each_task(Task one) const {
        interrupt::Pace pace;
        each_group(first, static_cast<std::int64_t>(worker.size()), [&](std::size_t t, std::int64_t begin, std::int64_t end) {
            one(t, begin, end);
            pace.after(end - begin + 1);
        });
    }
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
Room<double> vote(const Labels& labels, std::span<const double> weight);

} // namespace optiframe::rankone
