#include "labels.hpp"

#include <optiframe/interrupt.hpp>

#include <numeric>

namespace optiframe::rankone {
namespace {

struct Row {
    std::int64_t row;
    std::int32_t task; // beside it, so that the second pass reads in order
};

// Where each code's rows begin once they are sorted by it.
std::vector<std::int64_t> begins(const Coded& by) {
    std::vector<std::int64_t> at(by.count + 1);
    for (const auto code : by.codes) ++at[code + 1];
    std::partial_sum(at.begin(), at.end(), at.begin());
    return at;
}

} // namespace

// Counting sorts, which keep the order of equal rows: by worker first, by task then.
std::vector<std::int64_t> order(Coded task, Coded worker) {
    const std::size_t n = task.codes.size();
    std::vector<Row> by_worker(n);
    auto at = begins(worker);
    interrupt::Pace pace;
    for (std::size_t k = 0; k < n; ++k) {
        pace.after(1);
        by_worker[at[worker.codes[k]]++] = {static_cast<std::int64_t>(k), task.codes[k]};
    }
    std::vector<std::int64_t> rows(n);
    at = begins(task);
    for (std::size_t k = 0; k < n; ++k) {
        pace.after(1);
        rows[at[by_worker[k].task]++] = by_worker[k].row;
    }
    return rows;
}

void vote(const Labels& labels, std::span<const double> weight, std::size_t classes, std::span<double> scores) {
    interrupt::Pace pace;
    for (std::size_t t = 0; t < labels.tasks(); ++t) {
        pace.after(labels.first[t + 1] - labels.first[t] + 1);
        for (auto k = labels.first[t]; k < labels.first[t + 1]; ++k)
            scores[t * classes + labels.label[k]] += weight[labels.worker[k]];
    }
}

} // namespace optiframe::rankone
