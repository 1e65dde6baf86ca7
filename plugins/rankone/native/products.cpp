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
        const double skill = x[labels.worker[k]];
        votes[labels.label[k]] += skill;
        skills += skill;
        squares += skill * skill;
    }
};

// Calls `use(k, sums of its task)` for every label k.
template <class Use> void for_each_label(const Labels& labels, std::span<const double> x, std::size_t classes, Use use) {
    TaskSums sums(classes);
    interrupt::Pace pace;
    for (std::size_t t = 0; t < labels.tasks(); ++t) {
        pace.after(labels.first[t + 1] - labels.first[t] + 1);
        sums.skills = sums.squares = 0.0;
        for (auto k = labels.first[t]; k < labels.first[t + 1]; ++k) sums.add(labels, x, k);
        for (auto k = labels.first[t]; k < labels.first[t + 1]; ++k) use(k, sums);
        for (auto k = labels.first[t]; k < labels.first[t + 1]; ++k) sums.votes[labels.label[k]] = 0.0;
    }
}

} // namespace

void label_pulls(const Labels& labels, std::span<const double> x, std::size_t classes, Pulls into) {
    const double disagree = 1.0 / (static_cast<double>(classes) - 1.0), agree = static_cast<double>(classes) * disagree;
    for_each_label(labels, x, classes, [&](std::int64_t k, const TaskSums& task) {
        const auto i = labels.worker[k];
        const double skill = x[i];
        into.pull[i] += agree * (task.votes[labels.label[k]] - skill) - disagree * (task.skills - skill);
        into.curvature[i] += task.squares - skill * skill;
    });
}

void label_weights(Firsts first, Codes worker, std::span<const double> x, std::span<double> sums) {
    interrupt::Pace pace;
    for (std::size_t t = 0; t + 1 < first.size(); ++t) {
        pace.after(first[t + 1] - first[t] + 1);
        double total = 0.0;
        for (auto k = first[t]; k < first[t + 1]; ++k) total += x[worker[k]];
        for (auto k = first[t]; k < first[t + 1]; ++k) sums[worker[k]] += total - x[worker[k]];
    }
}

void task_pulls(const Labels& labels, std::span<const double> x, std::size_t classes, std::span<double> pull,
                PullSums sums) {
    const double m = static_cast<double>(classes), share = 1.0 / (m - 1.0);
    for_each_label(labels, x, classes, [&](std::int64_t k, const TaskSums& task) {
        const auto i = labels.worker[k];
        const double skill = x[i], others = task.squares - skill * skill;
        const double g = (m * (task.votes[labels.label[k]] - skill) - (task.skills - skill)) * share - skill * others;
        if (!pull.empty()) pull[k] = g;
        sums.curvature[i] += std::max(others, 0.0);
        sums.total[i] += g;
        sums.squares[i] += g * g;
    });
}

} // namespace optiframe::rankone
