#include "products.hpp"

#include <optiframe/interrupt.hpp>

#include <algorithm>

namespace optiframe::rankone {
namespace {

// Sums over the labels of one task.
struct TaskSums {
    double skills = 0.0, squares = 0.0;
    std::vector<double> votes; // skills of those who gave each class

    explicit TaskSums(std::size_t classes) : votes(classes) {}

    void add(const Labels& labels, std::span<const double> x, std::int64_t k) {
        const double skill = x[labels.worker_of(k)];
        votes[labels.label_of(k)] += skill;
        skills += skill;
        squares += skill * skill;
    }
};

// Calls `use(k, sums of its task)` for every label k.
template <class Use> void for_each_label(const Labels& labels, std::span<const double> x, Use use) {
    TaskSums sums(labels.classes);
    labels.each_task([&](std::size_t, std::int64_t begin, std::int64_t end) {
        sums.skills = sums.squares = 0.0;
        for (auto k = begin; k < end; ++k) sums.add(labels, x, k);
        for (auto k = begin; k < end; ++k) use(k, sums);
        for (auto k = begin; k < end; ++k) sums.votes[labels.label_of(k)] = 0.0;
    });
}

} // namespace

void label_pulls(const Labels& labels, std::span<const double> x, Pulls into) {
    const double m = static_cast<double>(labels.classes), disagree = 1.0 / (m - 1.0), agree = m * disagree;
    for_each_label(labels, x, [&](std::int64_t k, const TaskSums& task) {
        const auto i = labels.worker_of(k);
        const double skill = x[i];
        into.pull[i] += agree * (task.votes[labels.label_of(k)] - skill) - disagree * (task.skills - skill);
        into.curvature[i] += task.squares - skill * skill;
    });
}

void label_weights(const Labels& labels, std::span<const double> x, std::span<double> sums) {
    labels.each_task([&](std::size_t, std::int64_t begin, std::int64_t end) {
        double total = 0.0;
        for (auto k = begin; k < end; ++k) total += x[labels.worker_of(k)];
        for (auto k = begin; k < end; ++k) {
            const auto i = labels.worker_of(k);
            sums[i] += total - x[i];
        }
    });
}

void task_pulls(const Labels& labels, std::span<const double> x, std::span<double> pull, PullSums sums) {
    const double m = static_cast<double>(labels.classes), share = 1.0 / (m - 1.0);
    for_each_label(labels, x, [&](std::int64_t k, const TaskSums& task) {
        const auto i = labels.worker_of(k);
        const double skill = x[i], others = task.squares - skill * skill;
        const double g = (m * (task.votes[labels.label_of(k)] - skill) - (task.skills - skill)) * share - skill * others;
        if (!pull.empty()) pull[k] = g;
        sums.curvature[i] += std::max(others, 0.0);
        sums.total[i] += g;
        sums.squares[i] += g * g;
    });
}

} // namespace optiframe::rankone
