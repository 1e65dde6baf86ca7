#include "labels.hpp"

#include <optiframe/interrupt.hpp>

#include <algorithm>
#include <numeric>

namespace optiframe::rankone {
namespace {

// What is carried through the sort beside the key.
struct Carried {
    std::int32_t code, label;
};

// Where each code's rows begin once they are sorted by it.
std::vector<std::int64_t> begins(const Coded& by) {
    std::vector<std::int64_t> at(by.count + 1);
    interrupt::Pace pace;
    for (const auto code : by.codes) {
        pace.after(1);
        ++at[code + 1];
    }
    std::partial_sum(at.begin(), at.end(), at.begin());
    return at;
}

} // namespace

// Counting sorts, which keep the order of equal labels: by worker first, by task then. What is written out
// of order is in one piece, since it waits for memory.
SortedLabels sort_labels(Coded task, Coded worker, Codes label) {
    const std::size_t n = label.size();
    interrupt::Pace pace;
    const auto by_worker = room<Carried>(n);
    const auto by_task = room<Carried>(n);
    auto at = begins(worker);
    for (std::size_t k = 0; k < n; ++k) {
        pace.after(1);
        by_worker[at[worker.codes[k]]++] = {task.codes[k], label[k]};
    }
    const auto ends = std::move(at); // of each worker's labels, which have all been put in place
    at = begins(task);
    SortedLabels sorted;
    for (auto* column : {&sorted.task, &sorted.worker, &sorted.label})
        *column = room<std::int32_t>(n);
    for (std::size_t i = 0, k = 0; i < worker.count; ++i)
        for (; static_cast<std::int64_t>(k) < ends[i]; ++k) {
            pace.after(1);
            by_task[at[by_worker[k].code]++] = {static_cast<std::int32_t>(i), by_worker[k].label};
        }
    for (std::size_t t = 0, k = 0; t < task.count; ++t)
        for (; static_cast<std::int64_t>(k) < at[t]; ++k) {
            pace.after(1);
            sorted.task[k] = static_cast<std::int32_t>(t);
            sorted.worker[k] = by_task[k].code;
            sorted.label[k] = by_task[k].label;
        }
    return sorted;
}

Room<double> vote(const Labels& labels, std::span<const double> weight, std::size_t classes) {
    auto scores = room<double>(labels.tasks() * classes);
    std::fill_n(scores.get(), labels.tasks() * classes, 0.0);
    interrupt::Pace pace;
    for (std::size_t t = 0; t < labels.tasks(); ++t) {
        pace.after(labels.first[t + 1] - labels.first[t] + 1);
        for (auto k = labels.first[t]; k < labels.first[t + 1]; ++k)
            scores[t * classes + labels.label[k]] += weight[labels.worker[k]];
    }
    return scores;
}

} // namespace optiframe::rankone
