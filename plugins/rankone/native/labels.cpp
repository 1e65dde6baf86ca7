#include "labels.hpp"

#include <optiframe/counting.hpp>
#include <optiframe/interrupt.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace optiframe::rankone {
namespace {

// A label on its way: each is in one piece, since what is written out of order waits for memory.
struct Moved {
    std::int32_t task, worker, label;
};

// Tasks in groups of 2^shift, whose labels stay in the processor's second cache: about 200 kB, but no fewer labels
// than there are workers to count.
int shift_of_groups(std::size_t labels, std::size_t tasks, std::size_t workers) {
    const std::size_t enough = std::max<std::size_t>(1 << 14, workers);
    int shift = 0;
    while ((tasks >> shift) > 1 && (labels / tasks << shift) < enough) ++shift;
    return shift;
}

} // namespace

// Counting sorts, which keep the order of equal labels: by group of tasks first, and then each group by worker and
// by task.
SortedLabels sort_labels(Coded task, Coded worker, Codes label) {
    const std::size_t n = label.size();
    SortedLabels sorted{room<std::int32_t>(n), room<std::int32_t>(n), room<std::int32_t>(n)};
    // At first the codes as they come: what is counted must be what is put in place.
    copy_codes(task.codes, task.count, sorted.task.get(), "task");
    auto next = begins(Codes{sorted.task.get(), n}, task.count); // place of each task's next label
    const int shift = shift_of_groups(n, std::max<std::size_t>(task.count, 1), worker.count);
    std::vector<std::int64_t> group; // where each begins, and the end
    for (std::size_t t = 0; t < task.count; t += std::size_t{1} << shift) group.push_back(next[t]);
    group.push_back(static_cast<std::int64_t>(n));
    auto at = group;
    const auto grouped = room<Moved>(n);
    interrupt::in_blocks(static_cast<std::int64_t>(n), [&](std::int64_t begin, std::int64_t end) {
        for (auto k = begin; k < end; ++k) {
            const auto t = sorted.task[k];
            const auto who = static_cast<std::int32_t>(place(worker.codes, k, worker.count));
            grouped[at[t >> shift]++] = {t, who, label[k]};
        }
    });
    std::int64_t most = 0;
    for (std::size_t g = 0; g + 1 < group.size(); ++g) most = std::max(most, group[g + 1] - group[g]);
    const auto by_worker = room<Moved>(static_cast<std::size_t>(most));
    interrupt::Pace pace;
    for (std::size_t g = 0; g + 1 < group.size(); ++g) {
        const Moved* mine = grouped.get() + group[g];
        const auto labels = group[g + 1] - group[g];
        at.assign(worker.count + 1, 0);
        pace.in_blocks(0, labels, 1, [&](auto begin, auto end) {
            for (auto k = begin; k < end; ++k) ++at[mine[k].worker + 1];
        });
        std::partial_sum(at.begin(), at.end(), at.begin());
        pace.in_blocks(0, labels, 4, [&](auto begin, auto end) {
            for (auto k = begin; k < end; ++k) by_worker[at[mine[k].worker]++] = mine[k];
        });
        pace.in_blocks(0, labels, 4, [&](auto begin, auto end) {
            for (auto k = begin; k < end; ++k) {
                const auto to = next[by_worker[k].task]++;
                sorted.task[to] = by_worker[k].task;
                sorted.worker[to] = by_worker[k].worker;
                sorted.label[to] = by_worker[k].label;
            }
        });
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
