#include "pairs.hpp"

#include <optiframe/dispatch.hpp>
#include <optiframe/interrupt.hpp>
#include <optiframe/lanes.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace optiframe::rankone {
namespace {

constexpr std::int64_t at_a_time = 1 << 23; // pairs of labels: 32 MB
constexpr std::size_t piece = 1 << 20;      // pairs of workers, and those of one worker more: 12 MB

// A pair of labels, filed under the worker of the later one.
struct Met {
    std::uint32_t other : 31;
    std::uint32_t agree : 1;
};

// Tasks that a worker shares with one before, and those they agree on.
struct Tally {
    std::int32_t shared, agreed;
};

// How many pairs of labels are filed under each worker.
std::vector<std::int64_t> pairs_of_workers(const Labels& labels, std::size_t workers) {
    std::vector<std::int64_t> count(workers);
    labels.each_task([&](std::size_t, std::int64_t begin, std::int64_t end) {
        for (auto k = begin; k < end; ++k) count[labels.worker[k]] += k - begin;
    });
    return count;
}

// Workers who share tasks with worker j and come before, rising, out of the pairs filed under j: by looking
// at all who come before where the pairs are many, else by sorting those in the pairs.
void workers_met(std::size_t j, std::span<const Met> pairs, std::span<const Tally> tallies,
                 std::vector<std::int32_t>& met) {
    met.clear();
    if (pairs.size() >= j / 8) {
        for (std::size_t i = 0; i < j; ++i)
            if (tallies[i].shared != 0) met.push_back(static_cast<std::int32_t>(i));
    } else {
        for (const auto pair : pairs) met.push_back(static_cast<std::int32_t>(pair.other));
        std::sort(met.begin(), met.end());
        met.erase(std::unique(met.begin(), met.end()), met.end());
    }
}

// Calls `use(j, met, tallies)` for each worker j, in order: `met` are the workers i < j who share tasks with
// j, rising, and tallies[i] says how many.
//
// Pairs of labels are filed by worker and then tallied worker by worker, so that counters stay in the
// processor's first cache; workers whose pairs are more than fit at a time come in further rounds over
// the labels.
template <class Use> void for_each_worker(const Labels& labels, std::size_t workers, Use use) {
    const auto count = pairs_of_workers(labels, workers);
    std::vector<Tally> tallies(workers);
    std::vector<Met> filed;
    std::vector<std::int32_t> met;
    std::vector<std::int64_t> next(workers);
    interrupt::Pace pace;
    for (std::size_t begin = 0, end = 0; begin < workers; begin = end) {
        std::int64_t pairs = 0;
        for (; end < workers && (end == begin || pairs + count[end] <= at_a_time); pairs += count[end++])
            next[end] = pairs;
        filed.resize(std::max(filed.size(), static_cast<std::size_t>(pairs)));
        for (std::size_t t = 0; t < labels.tasks(); ++t) {
            for (auto later = labels.first[t]; later < labels.first[t + 1]; ++later) {
                const std::size_t j = labels.worker[later];
                pace.after(later - labels.first[t]);
                if (j < begin || j >= end) continue;
                auto at = next[j];
                for (auto k = labels.first[t]; k < later; ++k)
                    filed[at++] = {static_cast<std::uint32_t>(labels.worker[k]),
                                   labels.label[k] == labels.label[later]};
                next[j] = at;
            }
        }
        for (std::size_t j = begin; j < end; ++j) {
            pace.after(static_cast<std::int64_t>(j) + count[j]);
            const std::span<const Met> mine(filed.data() + next[j] - count[j], static_cast<std::size_t>(count[j]));
            for (const auto pair : mine) {
                ++tallies[pair.other].shared;
                tallies[pair.other].agreed += pair.agree;
            }
            workers_met(j, mine, tallies, met);
            use(j, std::span<const std::int32_t>(met), std::span<const Tally>(tallies));
            for (const auto i : met) tallies[i] = {};
        }
    }
}

} // namespace

SortedByWorker::SortedByWorker(const Labels& given)
    : first_(copied(given.first)),
      worker_(copy_codes(given.worker, static_cast<std::int64_t>(given.workers), "worker")),
      label_(copied(given.label)), workers_(given.workers) {
    check_firsts(std::span(first_), static_cast<std::int64_t>(worker_.size()), "first");
    labels().each_task([&](std::size_t, std::int64_t begin, std::int64_t end) {
        for (auto k = begin + 1; k < end; ++k) check(worker_[k - 1] < worker_[k], "worker must rise within each task");
    });
}

Labels SortedByWorker::labels() const { return {first_, worker_, label_, workers_, 0}; }

PairCounts count_pairs(const SortedByWorker& given) {
    const Labels labels = given.labels();
    const std::size_t workers = labels.workers;
    struct Before {
        std::int32_t worker;
        Tally tally;
    };
    // Pairs i < j, by j and then i; in pieces, as moving all to more room takes longer than Ctrl-C may wait.
    std::vector<std::vector<Before>> found;
    std::vector<std::int32_t> each(workers), entries(workers + 1);
    std::int64_t total = 0;
    for_each_worker(labels, workers, [&](std::size_t j, auto met, auto tallies) {
        if (found.empty() || found.back().size() >= piece) found.emplace_back();
        auto& part = found.back();
        for (const auto i : met) {
            part.push_back({i, tallies[i]});
            ++entries[i + 1];
        }
        each[j] = static_cast<std::int32_t>(met.size());
        entries[j + 1] += each[j];
        total += 2 * std::int64_t{each[j]};
    });
    if (total > std::numeric_limits<std::int32_t>::max())
        throw std::invalid_argument("there are more pairs of workers than a matrix can hold");
    PairCounts counts{std::move(entries), room<std::int32_t>(total), room<double>(total), room<double>(total)};
    for (std::size_t i = 0; i < workers; ++i) counts.start[i + 1] += counts.start[i];
    auto next = counts.start;
    const auto put = [&](std::size_t row, std::size_t column, Tally tally) {
        const auto at = next[row]++;
        counts.column[at] = static_cast<std::int32_t>(column);
        counts.shared[at] = tally.shared;
        counts.agreed[at] = tally.agreed;
    };
    // A row gets the workers before in its own turn, and those after in theirs: columns rise.
    interrupt::Pace pace;
    std::size_t j = 0;
    for (const auto& part : found)
        for (std::size_t k = 0; k < part.size(); ++j) {
            for (const auto last = k + each[j]; k < last; ++k) {
                put(j, part[k].worker, part[k].tally);
                put(part[k].worker, j, part[k].tally);
            }
            pace.after(16 * std::int64_t{each[j]} + 1);
        }
    return counts;
}

namespace {

constexpr std::size_t tile = 32; // rows and columns of a part of a matrix that stays in the first cache

// Counts of the pairs i < j, at j (j - 1)/2 + i: more of a triangle stays in the processor's cache. The upper half of
// a count says how many agree.
template <class Count> struct Triangle {
    static constexpr int half = 4 * sizeof(Count);

    explicit Triangle(const Labels& labels) : counts(zeros<Count>(labels.workers * (labels.workers - 1) / 2)) {
        std::vector<std::size_t> worker; // of a task, copied, as they lead to places
        interrupt::Pace pace;
        labels.each_task([&](std::size_t, std::int64_t begin, std::int64_t end) {
            const std::int32_t* const label = labels.label.data() + begin;
            worker.clear();
            for (auto k = begin; k < end; ++k) {
                const std::size_t j = labels.worker_of(k), later = worker.size();
                check(later == 0 || worker.back() < j, "worker must rise within each task");
                const auto row = counts.get() + j * (j - 1) / 2;
                const auto mine = label[later];
                pace.after(static_cast<std::int64_t>(later));
                for (std::size_t before = 0; before < later; ++before)
                    row[worker[before]] += 1 + (Count{label[before] == mine} << half);
                worker.push_back(j);
            }
        });
    }

    // The row of worker j up to the diagonal, which is 0.
    void row(std::size_t j, double classes, double* __restrict shared, double* __restrict correlation) const {
        const Count* const mine = counts.get() + j * (j - 1) / 2;
        for (std::size_t i = 0; i < j; ++i) {
            const auto met = static_cast<std::int32_t>(mine[i] & ((Count{1} << half) - 1));
            const auto agreed = static_cast<std::int32_t>(mine[i] >> half);
            shared[i] = met;
            const double found = (agreed * classes / met - 1.0) / (classes - 1.0);
            correlation[i] = met == 0 ? 0.0 : found;
        }
        shared[j] = correlation[j] = 0.0;
    }

    Room<Count> counts;
};

template <class Count> PairTable as_matrices(const Triangle<Count>& triangle, std::size_t workers, double classes) {
    PairTable table{room<double>(workers * workers), room<double>(workers * workers)};
    double *const shared = table.shared.get(), *const correlation = table.correlation.get();
    interrupt::Pace pace;
    for (std::size_t begin = 0; begin < workers; begin += tile) {
        const auto end = std::min(begin + tile, workers);
        for (auto j = begin; j < end; ++j, pace.after(static_cast<std::int64_t>(j)))
            triangle.row(j, classes, shared + j * workers, correlation + j * workers);
        for (double* const each : {shared, correlation})
            for (std::size_t first = 0; first < end; first += tile, pace.after(tile * tile))
                for (auto i = first; i < std::min(first + tile, end); ++i)
                    for (auto j = std::max(begin, i + 1); j < end; ++j) each[i * workers + j] = each[j * workers + i];
    }
    return table;
}

} // namespace

PairTable count_table(const Labels& labels) {
    std::vector<std::int64_t> given(labels.workers); // labels of each, which no count exceeds
    labels.each_task([&](std::size_t, std::int64_t begin, std::int64_t end) {
        for (auto k = begin; k < end; ++k) ++given[labels.worker_of(k)];
    });
    const auto classes = static_cast<double>(labels.classes);
    if (std::ranges::all_of(given, [](std::int64_t each) { return each < 1 << 16; }))
        return as_matrices(Triangle<std::uint32_t>(labels), labels.workers, classes);
    return as_matrices(Triangle<std::uint64_t>(labels), labels.workers, classes);
}

double misses(const KnownPairs& pairs, std::span<const double> x) {
    double total = 0.0;
    interrupt::Pace pace;
    each_group(pairs.start, static_cast<std::int64_t>(pairs.column.size()),
               [&](std::size_t i, std::int64_t begin, std::int64_t end) {
        pace.after(end - begin + 1);
        double row = 0.0;
        for (auto k = begin; k < end; ++k) {
            const double gap = pairs.target[k] - x[i] * x[place(pairs.column, k, x.size())];
            row += pairs.known[k] * gap * gap;
        }
        total += row;
    });
    return total;
}

namespace {

constexpr double tiny = std::numeric_limits<double>::min(); // a curvature below it makes a quotient mean nothing

struct Pull {
    double pull, curvature;
};

template <class Of> double sweep_with(std::span<double> x, const Box& box, std::int64_t steps, Of of) {
    double largest = 0.0;
    interrupt::Pace pace;
    for (std::size_t i = 0; i < x.size(); ++i, pace.after(steps)) {
        const Pull found = of(i);
        if (!(found.curvature > tiny)) continue;
        const double best = std::min(std::max(found.pull / found.curvature, box.lower[i]), box.upper[i]);
        largest = std::max(largest, std::abs(best - x[i]));
        x[i] = best;
    }
    return largest;
}

OPTIFRAME_CLONES Pull pull_of(const double* known, const double* weighted, const double* x, std::int64_t size) {
    Lanes pulls = {}, curvatures = {};
    std::int64_t j = 0;
    for (; j + lanes <= size; j += lanes) {
        Lanes n, nc, at;
        load(known + j, n);
        load(weighted + j, nc);
        load(x + j, at);
        pulls += nc * at;
        curvatures += n * (at * at);
    }
    Pull found{sum(pulls), sum(curvatures)};
    for (; j < size; ++j) {
        found.pull += weighted[j] * x[j];
        found.curvature += known[j] * (x[j] * x[j]);
    }
    return found;
}

} // namespace

double sweep(const KnownPairs& pairs, std::span<double> x, const Box& box) {
    const auto entries = static_cast<std::int64_t>(pairs.column.size());
    interrupt::Pace pace;
    return sweep_with(x, box, 1, [&](std::size_t i) {
        const std::int64_t begin = read(pairs.start[i]), end = read(pairs.start[i + 1]);
        if (begin < 0 || end < begin || end > entries) refuse_code();
        Pull found{};
        for (auto k = begin; k < end; ++k) {
            const double at = x[place(pairs.column, k, x.size())];
            found.pull += pairs.target[k] * at;
            found.curvature += pairs.known[k] * (at * at);
        }
        pace.after(end - begin);
        return found;
    });
}

double sweep_dense(const double* known, const double* weighted, std::span<double> x, const Box& box) {
    const auto size = static_cast<std::int64_t>(x.size());
    return sweep_with(x, box, size, [&](std::size_t i) {
        return pull_of(known + i * x.size(), weighted + i * x.size(), x.data(), size);
    });
}

} // namespace optiframe::rankone
