#include "multigrid.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <optiframe/counting.hpp>
#include <optiframe/interrupt.hpp>

namespace optiframe::hodgerank {

namespace {

constexpr i64 small = 100;        // nodes of a graph that is solved by a dense pseudo-inverse, in a millisecond
constexpr double damping = 4.0 / 3; // of the Jacobi step that smooths the groups, over the largest eigenvalue of D^-1 L
constexpr int rounds = 5; // of the power method for that; an estimate a tenth too low costs a step in twenty
// All smaller graphs together may have so many times the edges: a cycle then costs at most three times the
// largest graph's part. And the products that lead to one may have so many times its graph's entries:
// random graphs have more, and finding that out must not take longer than solving without a cycle.
constexpr i64 smaller = 2, wider = 8;
constexpr double nothing = 1e-12; // edges lighter than this share of their node's are rounding

// Runs use(i, begin, end) for the entries from begin to end of each row i.
template <class Use> void each_row(const std::vector<i64>& first, Use use) {
    interrupt::Pace pace;
    for (i64 i = 0; i + 1 < static_cast<i64>(first.size()); ++i) {
        use(i, first[i], first[i + 1]);
        pace.after(first[i + 1] - first[i] + 1);
    }
}

// Every pair at both of its items. A common factor changes nothing, and single precision overflows at 1e38.
Sparse<double> both_ways(const RowsByPair& rows) {
    const i64 nodes = rows.items();
    double largest = 1e-300;
    interrupt::in_blocks(rows.pairs(), [&](i64 begin, i64 end) {
        for (i64 p = begin; p < end; ++p) largest = std::max(largest, rows.whole()[p]);
    });
    Sparse<double> edges{filled<i64>(nodes + 1, 0), filled<i32>(2 * rows.pairs(), 0), filled(2 * rows.pairs(), 0.0)};
    each_row(rows.first_pair(), [&](i64 i, i64 begin, i64 end) {
        edges.first[i + 1] += end - begin;
        for (i64 e = begin; e < end; ++e) ++edges.first[rows.other()[e] + 1];
    });
    std::partial_sum(edges.first.begin(), edges.first.end(), edges.first.begin());
    std::vector<i64> at = copied<i64>(edges.first);
    each_row(rows.first_pair(), [&](i64 i, i64 begin, i64 end) {
        for (i64 e = begin; e < end; ++e) {
            const i32 j = rows.other()[e];
            const double share = rows.whole()[e] / largest;
            for (const auto& [from, to] : {std::pair{i, static_cast<i64>(j)}, std::pair{static_cast<i64>(j), i}}) {
                edges.column[at[from]] = static_cast<i32>(to);
                edges.value[at[from]++] = share;
            }
        }
    });
    return edges;
}

// The edges of each node to earlier nodes.
Sparse<float> to_earlier(const Sparse<double>& edges) {
    Sparse<float> found{filled<i64>(edges.first.size(), 0), {}, {}};
    found.column.reserve(edges.column.size() / 2);
    found.value.reserve(edges.column.size() / 2);
    each_row(edges.first, [&](i64 i, i64 begin, i64 end) {
        for (i64 e = begin; e < end; ++e)
            if (edges.column[e] < i) {
                found.column.push_back(edges.column[e]);
                found.value.push_back(static_cast<float>(edges.value[e]));
            }
        found.first[i + 1] = found.entries();
    });
    return found;
}

struct Groups {
    std::vector<i32> of; // each node, -1 where it has no edge
    i64 count;
};

// A node none of whose neighbours is in a group yet founds one with all of them; then what is left over
// joins the group of a neighbour.
Groups aggregate(const Sparse<double>& edges) {
    const i64 nodes = edges.rows();
    std::vector<i32> group = filled<i32>(nodes, -1);
    i32 count = 0;
    each_row(edges.first, [&](i64 i, i64 begin, i64 end) {
        bool free = group[i] < 0 && begin < end;
        for (i64 e = begin; free && e < end; ++e) free = group[edges.column[e]] < 0;
        if (!free) return;
        group[i] = count;
        for (i64 e = begin; e < end; ++e) group[edges.column[e]] = count;
        ++count;
    });
    std::vector<i32> joined = copied<i32>(group);
    each_row(edges.first, [&](i64 i, i64 begin, i64 end) {
        for (i64 e = begin; group[i] < 0 && e < end; ++e)
            if (group[edges.column[e]] >= 0) {
                joined[i] = group[edges.column[e]];
                break;
            }
    });
    return {joined, count};
}

// About the largest eigenvalue of D^-1 L = I - D^-1 W, which is at most 2, by the power method.
double largest_eigenvalue(const Sparse<float>& earlier, const std::vector<float>& inverse) {
    const i64 nodes = earlier.rows();
    std::vector<float> x = filled(nodes, 0.0f), weighed = filled(nodes, 0.0f);
    interrupt::Pace().in_blocks(0, nodes, 16, [&](i64 begin, i64 end) {
        for (i64 i = begin; i < end; ++i) x[i] = static_cast<float>(std::cos(static_cast<double>(i) * static_cast<double>(i)));
    });
    const auto norm = [&x] {
        double squares = 0.0;
        for (const float each : x) squares += static_cast<double>(each) * each;
        return std::sqrt(squares);
    };
    double found = 1.0;
    for (int round = 0; round < rounds; ++round) {
        const double length = norm();
        for (float& each : x) each = static_cast<float>(each / (length > 0 ? length : 1.0));
        std::ranges::fill(weighed, 0.0f);
        each_row(earlier.first, [&](i64 i, i64 begin, i64 end) {
            float total = 0.0f;
            for (i64 e = begin; e < end; ++e) {
                total += earlier.value[e] * x[earlier.column[e]];
                weighed[earlier.column[e]] += earlier.value[e] * x[i];
            }
            weighed[i] += total;
        });
        for (i64 i = 0; i < nodes; ++i) x[i] -= inverse[i] * weighed[i];
        interrupt::poll();
        found = norm();
    }
    return std::min(std::max(found, 1.0), 2.0);
}

// (diag(diagonal) + diag(scale) W) B; entries of a row are in no order. Nothing where it has more than
// `most` entries.
std::optional<Sparse<double>> multiply(const Sparse<double>& edges, const std::vector<double>& diagonal,
                                       const std::vector<double>& scale, const Sparse<double>& b, i64 columns,
                                       i64 most) {
    Sparse<double> found{filled<i64>(edges.first.size(), 0), {}, {}};
    found.column.reserve(edges.column.size());
    found.value.reserve(edges.column.size());
    std::vector<i64> place = filled<i64>(columns, -1); // of each column in the row at hand, where it is not before its begin
    interrupt::Pace pace;
    for (i64 i = 0; i < edges.rows(); ++i) {
        const i64 begin = found.first[i];
        const auto add = [&](double factor, i64 k) {
            for (i64 f = b.first[k]; f < b.first[k + 1]; ++f) {
                i64& at = place[b.column[f]];
                if (at < begin) {
                    at = found.entries();
                    push(found.column, b.column[f]);
                    push(found.value, 0.0);
                }
                found.value[at] += factor * b.value[f];
            }
        };
        add(diagonal[i], i);
        for (i64 e = edges.first[i]; e < edges.first[i + 1]; ++e) add(scale[i] * edges.value[e], edges.column[e]);
        found.first[i + 1] = found.entries();
        if (found.entries() > most) return std::nullopt;
        pace.after(edges.first[i + 1] - edges.first[i] + 1);
    }
    return found;
}

Sparse<double> transposed(const Sparse<double>& a, i64 columns) {
    Sparse<double> found{begins(std::span(a.column), columns), filled<i32>(a.column.size(), 0),
                         filled(a.column.size(), 0.0)};
    std::vector<i64> at = copied<i64>(found.first);
    each_row(a.first, [&](i64 i, i64 begin, i64 end) {
        for (i64 e = begin; e < end; ++e) {
            const i64 to = at[a.column[e]]++;
            found.column[to] = static_cast<i32>(i);
            found.value[to] = a.value[e];
        }
    });
    return found;
}

// The edges at each node of the graph that has the Laplacian A B, but for rounding. Nothing where they are
// more than `most`.
std::optional<Sparse<double>> edges_of_product(const Sparse<double>& a, const Sparse<double>& b, i64 most) {
    const i64 nodes = a.rows();
    Sparse<double> found{filled<i64>(nodes + 1, 0), {}, {}};
    std::vector<double> row = filled(nodes, 0.0);
    std::vector<i32> met;
    interrupt::Pace pace;
    for (i64 i = 0; i < nodes; ++i) {
        met.clear();
        for (i64 e = a.first[i]; e < a.first[i + 1]; ++e) {
            pace.after(b.first[a.column[e] + 1] - b.first[a.column[e]]);
            for (i64 f = b.first[a.column[e]]; f < b.first[a.column[e] + 1]; ++f) {
                const i32 j = b.column[f];
                if (row[j] == 0.0) met.push_back(j); // perhaps twice: then it is 0 the second time below
                row[j] += a.value[e] * b.value[f];
            }
        }
        std::ranges::sort(met);
        const double least = nothing * row[i];
        for (const i32 j : met) {
            if (j != i && std::abs(row[j]) > least) {
                push(found.column, j);
                push(found.value, -row[j]);
            }
            if (j != i) row[j] = 0.0;
        }
        row[i] = 0.0;
        found.first[i + 1] = found.entries();
        if (found.entries() > most) return std::nullopt;
    }
    return found;
}

Sparse<float> single(const Sparse<double>& a) {
    return {copied<i64>(a.first), copied<i32>(a.column), copied<double, float>(a.value)};
}

} // namespace

std::optional<Multigrid> Multigrid::of(const RowsByPair& rows) {
    Multigrid found;
    Sparse<double> edges = both_ways(rows);
    i64 room = smaller * edges.entries(); // edges that smaller graphs may have yet
    while (edges.rows() > small) {
        interrupt::poll();
        const i64 nodes = edges.rows();
        std::vector<double> degree = filled(nodes, 0.0), inverse = filled(nodes, 0.0);
        each_row(edges.first, [&](i64 i, i64 begin, i64 end) {
            for (i64 e = begin; e < end; ++e) degree[i] += edges.value[e];
            inverse[i] = degree[i] > 0 ? 1.0 / degree[i] : 0.0;
        });
        const Groups groups = aggregate(edges);
        Sparse<double> indicator{filled<i64>(nodes + 1, 0), {}, {}};
        interrupt::in_blocks(nodes, [&](i64 begin, i64 end) {
            for (i64 i = begin; i < end; ++i) {
                if (groups.of[i] >= 0) push(indicator.column, groups.of[i]);
                indicator.first[i + 1] = indicator.entries();
            }
        });
        indicator.value = filled(indicator.column.size(), 1.0);
        Level level{to_earlier(edges), copied<double, float>(inverse), {}, groups.count};
        const double share = damping / largest_eigenvalue(level.edges, level.scale);
        for (double& each : inverse) each *= share;
        const i64 most = wider * edges.entries();
        const auto smooth =
            multiply(edges, filled(nodes, 1 - share), inverse, indicator, groups.count, most);
        if (!smooth) return std::nullopt;
        const auto image = multiply(edges, degree, filled(nodes, -1.0), *smooth, groups.count, most);
        if (!image) return std::nullopt;
        level.prolongation = single(*smooth);
        found.levels_.push_back(std::move(level));
        auto coarse = edges_of_product(transposed(*smooth, groups.count), *image, room);
        if (!coarse) return std::nullopt;
        room -= coarse->entries();
        edges = std::move(*coarse);
    }
    found.smallest_ = std::move(edges);
    return found;
}

void Multigrid::cycle(std::span<const float> b, std::span<const float> inverse, std::span<float> x) const {
    cycle(0, b, inverse, x);
}

void Multigrid::cycle(std::size_t at, std::span<const float> b, std::span<const float> inverse,
                      std::span<float> x) const {
    const i64 n = static_cast<i64>(b.size());
    if (at == levels_.size()) {
        for (i64 i = 0; i < n; ++i) x[i] = std::inner_product(b.begin(), b.end(), inverse.begin() + i * n, 0.0f);
        return;
    }
    const Level& level = levels_[at];
    const Sparse<float>&edges = level.edges, &p = level.prolongation;
    interrupt::Pace pace;
    // Forward from 0: when a node is set nothing of it is left; later nodes then leave something.
    std::vector<float> left(n), rest(b.begin(), b.end()), coarse(level.groups), solved(level.groups);
    for (i64 i = 0; i < n; ++i) {
        float total = b[i];
        for (i64 e = edges.first[i]; e < edges.first[i + 1]; ++e) total += edges.value[e] * x[edges.column[e]];
        x[i] = total * level.scale[i];
        for (i64 e = edges.first[i]; e < edges.first[i + 1]; ++e) left[edges.column[e]] += edges.value[e] * x[i];
        pace.after(edges.first[i + 1] - edges.first[i] + 1);
    }
    pace.in_blocks(0, n, 2, [&](i64 begin, i64 end) {
        for (i64 i = begin; i < end; ++i)
            for (i64 e = p.first[i]; e < p.first[i + 1]; ++e) coarse[p.column[e]] += p.value[e] * left[i];
    });
    cycle(at + 1, coarse, inverse, solved);
    pace.in_blocks(0, n, 2, [&](i64 begin, i64 end) {
        for (i64 i = begin; i < end; ++i)
            for (i64 e = p.first[i]; e < p.first[i + 1]; ++e) x[i] += p.value[e] * solved[p.column[e]];
    });
    // Backward from there.
    for (i64 i = n - 1; i >= 0; --i) {
        float total = rest[i];
        for (i64 e = edges.first[i]; e < edges.first[i + 1]; ++e) total += edges.value[e] * x[edges.column[e]];
        x[i] = total * level.scale[i];
        for (i64 e = edges.first[i]; e < edges.first[i + 1]; ++e) rest[edges.column[e]] += edges.value[e] * x[i];
        pace.after(edges.first[i + 1] - edges.first[i] + 1);
    }
}

} // namespace optiframe::hodgerank
