#include "labels.hpp"

#include <optiframe/counting.hpp>
#include <optiframe/interrupt.hpp>

#include <utility>

namespace optiframe::rankone {
namespace {

// What is carried through the sort beside the key.
struct Carried {
    std::int32_t code, label;
};

} // namespace

// Counting sorts, which keep the order of equal labels: by worker first, by task then. What is written out
// of order is in one piece, since it waits for memory.
SortedLabels sort_labels(Coded task, Coded worker, Codes label) {
    const std::size_t n = label.size();
    interrupt::Pace pace;
    SortedLabels sorted{room<std::int32_t>(n), room<std::int32_t>(n), room<std::int32_t>(n)};
    // At first the codes as they come: what is counted must be what is put in place.
    copy_codes(task.codes, task.count, sorted.task.get(), "task");
    copy_codes(worker.codes, worker.count, sorted.worker.get(), "worker");
    const auto by_worker = room<Carried>(n);
    const auto by_task = room<Carried>(n);
    auto at = begins(Codes{sorted.worker.get(), n}, worker.count);
    for (std::size_t k = 0; k < n; ++k) {
        pace.after(1);
        by_worker[at[sorted.worker[k]]++] = {sorted.task[k], label[k]};
    }
    const auto ends = std::move(at); // of each worker's labels, which have all been put in place
    at = begins(Codes{sorted.task.get(), n}, task.count);
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

Room<double> vote(const Labels& labels, std::span<const double> weight) {
    auto scores = zeros<double>(labels.tasks() * labels.classes);
    labels.each_task([&](std::size_t t, std::int64_t begin, std::int64_t end) {
        double* mine = &scores[t * labels.classes];
        for (auto k = begin; k < end; ++k) mine[labels.label_of(k)] += weight[labels.worker_of(k)];
    });
    return scores;
}

} // namespace optiframe::rankone
