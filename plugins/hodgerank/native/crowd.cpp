#include "crowd.hpp"

#include <optiframe/dispatch.hpp>
#include <optiframe/lanes.hpp>
#include <optiframe/vector_math.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace optiframe::hodgerank {
namespace {

constexpr i64 block = 512;   // votes whose numbers stay in the first cache
constexpr i64 batch = 20;    // chances whose product is above e^-(30 * 20) = 1e-261 even at the clip
constexpr double settled = 1e-3; // a chance of other shares that adds nothing to what is not known

struct Line { // the chance of a vote given a share is at + by * p
    double at, by;
};
constexpr Line line(i64 k) {
    const double share = static_cast<double>(k) / 10.0;
    return {1.0 - share, 2.0 * share - 1.0};
}
// Two vectors of eight shares; the last five are of share 1 again.
struct Grid {
    Lanes at[2], by[2];
    Grid() {
        for (i64 k = 0; k < 2 * lanes; ++k) {
            const Line each = line(std::min(k, shares - 1));
            at[k / lanes][k % lanes] = each.at;
            by[k / lanes][k % lanes] = each.by;
        }
    }
};

OPTIFRAME_CLONES void logistic(const double* d, double* chance, i64 votes) {
    for (i64 v = 0; v < votes; ++v) {
        const double within = std::min(std::max(d[v], -clip), clip);
        chance[v] = 1.0 / (1.0 + exp(-within));
    }
}

// Products of the chances of votes that all count once, given each share, in batches that do not underflow.
OPTIFRAME_CLONES void add_logs(const double* chance, i64 votes, const Grid& grid, double* logs) {
    for (i64 begin = 0; begin < votes; begin += batch) {
        Lanes low = grid.at[0] + grid.by[0] * chance[begin], high = grid.at[1] + grid.by[1] * chance[begin];
        for (i64 v = begin + 1; v < std::min(votes, begin + batch); ++v) {
            low *= grid.at[0] + grid.by[0] * chance[v];
            high *= grid.at[1] + grid.by[1] * chance[v];
        }
        for (i64 k = 0; k < lanes; ++k) logs[k] += std::log(low[k]);
        for (i64 k = lanes; k < shares; ++k) logs[k] += std::log(high[k - lanes]);
    }
}

void add_weighted_logs(const double* chance, const double* weight, i64 votes, double* logs) {
    for (i64 v = 0; v < votes; ++v)
        for (i64 k = 0; k < shares; ++k) logs[k] += weight[v] * std::log(line(k).at + line(k).by * chance[v]);
}

// Means over the shares that a worker may have of by / (at + by p), and of its square, for a block of chances that is
// filled up to whole lanes. The chances of a vote given a share and given one less it add up to 1, so that one division
// serves both.
OPTIFRAME_CLONES void mean_ratios(const double* chance, i64 votes, const double* belief, double least, double* first,
                                  double* second) {
    for (i64 v = 0; v < votes; v += lanes) {
        Lanes p, one = {}, two = {};
        load(chance + v, p);
        for (i64 k = 0; k < shares / 2; ++k) { // of share 1/2 both are 0
            const auto [at, by] = line(k);
            const double likely = belief[k] > least ? belief[k] : 0.0;
            const double other = belief[shares - 1 - k] > least ? belief[shares - 1 - k] : 0.0;
            if (likely == 0.0 && other == 0.0) continue;
            const Lanes q = at + by * p, rest = (1.0 - at) - by * p, each = by / (q * rest);
            const Lanes ratio = each * rest, turned = -each * q;
            one += likely * ratio + other * turned;
            two += likely * ratio * ratio + other * turned * turned;
        }
        std::memcpy(first + v, &one, sizeof one);
        std::memcpy(second + v, &two, sizeof two);
    }
}

constexpr i64 padded(i64 count) { return (count + lanes - 1) / lanes * lanes; }

// by / (at + by p) of each share less its mean over the beliefs, times `spread`.
OPTIFRAME_CLONES void off_mean(const Grid& grid, double p, double spread, const double* belief, double* off) {
    Lanes ratio[2];
    double mean = 0.0;
    for (i64 half = 0; half < 2; ++half) {
        ratio[half] = grid.by[half] / (grid.at[half] + grid.by[half] * p);
        Lanes likely;
        load(belief + half * lanes, likely);
        mean += sum(likely * ratio[half]);
    }
    for (i64 half = 0; half < 2; ++half) {
        const Lanes found = spread * (ratio[half] - mean);
        std::memcpy(off + half * lanes, &found, sizeof found);
    }
}

// Row i of the lower half of U'U, up to whole lanes: U has `rows` rows of so many columns, whole lanes of them.
OPTIFRAME_CLONES void products(const double* u, i64 rows, i64 columns, i64 i, double* into) {
    for (i64 j = 0; j <= i; j += lanes) {
        Lanes all = {};
        for (i64 k = 0; k < rows; ++k) {
            Lanes each;
            load(u + k * columns + j, each);
            all += u[k * columns + i] * each;
        }
        std::memcpy(into + j, &all, sizeof all);
    }
}

} // namespace

void crowd_likelihoods(const WorkerVotes& votes, std::span<const double> scores, double* chance, double* log_likelihood) {
    const Grid grid;
    interrupt::Pace pace;
    std::array<double, block> d;
    each_group(votes.first, votes.votes(), [&](i64 worker, i64 begin, i64 end) {
        std::array<double, shares> logs{};
        for (i64 from = begin; from < end; from += block) {
            const i64 count = std::min(block, end - from);
            bool once = true;
            for (i64 v = 0; v < count; ++v) {
                d[v] = scores[place(votes.winner, from + v, scores.size())] -
                       scores[place(votes.loser, from + v, scores.size())];
                once &= votes.weight[from + v] == 1.0;
            }
            logistic(d.data(), chance + from, count);
            if (once)
                add_logs(chance + from, count, grid, logs.data());
            else
                add_weighted_logs(chance + from, votes.weight.data() + from, count, logs.data());
        }
        std::copy(logs.begin(), logs.end(), log_likelihood + worker * shares);
        pace.after(4 * (end - begin) + 1);
    });
}

void crowd_slopes(const WorkerVotes& votes, std::span<const i64> pair, std::span<const i64> group, const double* chance,
                  const double* belief, double least, std::span<double> slope, i64 items, std::span<double> curve) {
    interrupt::Pace pace;
    std::array<double, block> first, second, near; // near: the chances, filled up to whole lanes
    near.fill(0.5);
    const i64 groups = items ? static_cast<i64>(slope.size()) / items : 0;
    each_group(votes.first, votes.votes(), [&](i64 worker, i64 begin, i64 end) {
        if (begin == end) return;
        double* const into = slope.data() + place(group, worker, groups) * items;
        for (i64 from = begin; from < end; from += block) {
            const i64 count = std::min(block, end - from);
            std::copy(chance + from, chance + from + count, near.begin());
            mean_ratios(near.data(), padded(count), belief + worker * shares, least, first.data(), second.data());
            for (i64 v = 0; v < count; ++v) {
                const double p = chance[from + v], spread = p * (1.0 - p), part = votes.weight[from + v] * spread;
                const double pull = part * first[v];
                into[place(votes.winner, from + v, items)] -= pull;
                into[place(votes.loser, from + v, items)] += pull;
                curve[place(pair, from + v, curve.size())] += part * (spread * second[v] - (1.0 - 2.0 * p) * first[v]);
            }
        }
        pace.after(8 * (end - begin) + 1);
    });
}

void crowd_doubt(const WorkerVotes& votes, const double* chance, const double* belief, double least, double* matrix,
                 i64 items) {
    const Grid grid;
    interrupt::Pace pace;
    std::vector<i64> column(items, -1), touched; // where an item is among those of a worker's votes
    std::vector<double> u, row(padded(items));
    each_group(votes.first, votes.votes(), [&](i64 worker, i64 begin, i64 end) {
        std::array<double, 2 * lanes> likely{}, off;
        std::copy(belief + worker * shares, belief + (worker + 1) * shares, likely.begin());
        if (!(*std::ranges::max_element(likely) < 1.0 - settled)) return;
        touched.clear();
        for (i64 v = begin; v < end; ++v)
            for (const std::size_t item : {place(votes.winner, v, items), place(votes.loser, v, items)})
                if (column[item] < 0) {
                    column[item] = 0;
                    touched.push_back(static_cast<i64>(item));
                }
        std::ranges::sort(touched);
        for (std::size_t c = 0; c < touched.size(); ++c) column[touched[c]] = static_cast<i64>(c);
        const i64 columns = padded(static_cast<i64>(touched.size()));
        i64 rows = 0;
        std::array<i64, shares> share;
        std::array<double, shares> root;
        for (i64 k = 0; k < shares; ++k)
            if (likely[k] > least) {
                share[rows] = k;
                root[rows++] = std::sqrt(likely[k]);
            }
        u.assign(rows * columns, 0.0);
        for (i64 v = begin; v < end; ++v) {
            const double p = chance[v];
            off_mean(grid, p, votes.weight[v] * p * (1.0 - p), likely.data(), off.data());
            // Another thread may have changed an item meanwhile: it is then not among those touched.
            const i64 winner = column[place(votes.winner, v, items)], loser = column[place(votes.loser, v, items)];
            if (winner < 0 || loser < 0) refuse_code();
            for (i64 k = 0; k < rows; ++k) {
                u[k * columns + winner] += root[k] * off[share[k]];
                u[k * columns + loser] -= root[k] * off[share[k]];
            }
        }
        for (i64 i = 0; i < static_cast<i64>(touched.size()); ++i) {
            products(u.data(), rows, columns, i, row.data());
            double* const into = matrix + touched[i] * items;
            for (i64 j = 0; j <= i; ++j) into[touched[j]] += row[j];
            pace.after(i * (rows + 4) / 4 + 1);
        }
        for (const i64 item : touched) column[item] = -1;
        pace.after(16 * (end - begin) + 1);
    });
}

ByWorker votes_by_worker(i64 workers, std::span<const i64> worker, const Comparisons& rows, std::span<const double> weight,
                         std::span<const i64> merged, std::span<const i64> pair) {
    const i64 count = rows.rows();
    std::vector<i64> next(workers + 2);
    std::vector<u32> code(count); // of each row: its worker, `workers` for nobody, one more for a tie
    interrupt::in_blocks(count, [&](i64 begin, i64 end) {
        for (i64 row = begin; row < end; ++row) {
            const i64 who = read(worker[row]);
            check(who < workers, "worker has codes that are not of a worker");
            code[row] = static_cast<u32>(rows.margin[row] == 0.0 ? workers + 1 : who < 0 ? workers : who);
            ++next[code[row]];
        }
    });
    ByWorker found;
    const i64 nobody = next[workers];
    i64 before = 0;
    for (i64 w = 0; w < workers; ++w) {
        const i64 some = next[w];
        next[w] = before;
        if (some) {
            found.first.push_back(before);
            found.code.push_back(w);
        }
        before += some;
    }
    next[workers] = before;
    for (i64 k = 0; k < nobody; ++k) {
        found.first.push_back(before + k);
        found.code.push_back(-1);
    }
    const i64 votes = before + nobody;
    found.first.push_back(votes);
    for (auto* each : {&found.winner, &found.loser, &found.pair}) *each = room<i64>(votes);
    found.weight = room<double>(votes);
    interrupt::in_blocks(count, [&](i64 begin, i64 end) {
        for (i64 row = begin; row < end; ++row) {
            if (code[row] > workers) continue;
            const i64 vote = next[code[row]]++;
            const i64 left = read(rows.left[row]), right = read(rows.right[row]);
            const bool ahead = rows.margin[row] > 0.0;
            found.winner[vote] = ahead ? left : right;
            found.loser[vote] = ahead ? right : left;
            found.pair[vote] = read(pair[place(merged, row, pair.size())]);
            found.weight[vote] = weight.empty() ? 1.0 : weight[row];
        }
    });
    return found;
}

} // namespace optiframe::hodgerank
