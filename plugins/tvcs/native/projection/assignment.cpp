#include "assignment.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <optiframe/dispatch.hpp>
#include <optiframe/interrupt.hpp>

namespace optiframe::tvcs {

namespace {

constexpr int reductions = 3; // times that every row without a column bids for one

struct Best {
    double first, second;
    i64 at;
};

// The largest and the second largest of worth less price.
OPTIFRAME_CLONES Best two_best(const double* worth, const double* price, i64 n) {
    double first = -inf;
    for (i64 j = 0; j < n; ++j) first = std::max(first, worth[j] - price[j]);
    i64 at = 0;
    while (worth[at] - price[at] != first) ++at;
    double second = -inf;
    for (i64 j = 0; j < at; ++j) second = std::max(second, worth[j] - price[j]);
    for (i64 j = at + 1; j < n; ++j) second = std::max(second, worth[j] - price[j]);
    return {first, second, at};
}

struct Least {
    double open, free;
};

// Distances of columns through one more row, the row that each is reached from, and the least of the open ones and of
// those without a row.
OPTIFRAME_CLONES Least relax(const double* worth, const double* price, double base, double row, i64 n,
                             const double* closed, const double* taken, double* distance, double* before) {
    double least = inf, free = inf;
    for (i64 j = 0; j < n; ++j) {
        const double d = base + price[j] - worth[j];
        before[j] = d < distance[j] ? row : before[j];
        distance[j] = d < distance[j] ? d : distance[j];
        least = std::min(least, distance[j] + closed[j]);
        free = std::min(free, distance[j] + taken[j]);
    }
    return {least, free};
}

// Of worths that tie, what breaks the ties falls from column to column: with prices that fall as much, not all rows
// want the same columns. Those behind as many as are assigned have no price, as so many stay without a row.
Vector<double> falling_prices(std::span<const double> worth, i64 rows, i64 columns, double common, i64 assigned) {
    double fall = 0.0, steps = 0.0;
    for (i64 i = 0; i < rows; ++i) {
        const double* of = worth.data() + i * columns;
        i64 first = 0, last = columns - 1; // which break ties: what is worth nothing does not
        while (first < last && of[first] <= 0.0) ++first;
        while (first < last && of[last] <= 0.0) --last;
        fall += std::fmod(of[first], common) - std::fmod(of[last], common);
        steps += static_cast<double>(last - first);
    }
    Vector<double> found(columns);
    for (i64 j = 0; j < columns && steps > 0.0; ++j) {
        const i64 behind = fall > 0.0 ? assigned - 1 - j : assigned - columns + j;
        found[j] = std::floor(std::abs(fall) / steps * static_cast<double>(std::max<i64>(behind, 0)));
    }
    return found;
}

// The shorter side of the matrix as rows, so that every row may find a column.
class Matrix {
public:
    Matrix(std::span<const double> worth, i64 rows, i64 columns)
        : rows(rows), columns(columns), worth(worth), u(rows), w(columns), column(rows, -1), row(columns, -1),
          distance(columns), closed(columns), taken(columns), before(columns) {}

    // The rows and columns from here on are dummies, which are worth so much to all others. Begins with such prices of
    // columns, and those of dummies by which as many rows prefer them as there are.
    void begin(i64 first_row, i64 first_column, double worth, std::span<const double> price) {
        dummy_row = first_row;
        dummy_column = first_column;
        dummy = worth;
        const double least = *std::min_element(price.begin(), price.begin() + first_column);
        for (i64 j = 0; j < first_column; ++j) w[j] = price[j] - least;
        for (i64 i = 0; i < first_row; ++i) u[i] = two_best(line(i), w.data(), first_column).first;
        const auto rank = u.begin() + (columns - first_column);
        std::nth_element(u.begin(), rank, u.begin() + first_row);
        std::fill(w.begin() + first_column, w.end(), dummy - std::max(*rank, 0.0));
    }

    // Without a price that all columns have.
    void end() {
        const double least = *std::ranges::min_element(w);
        for (double& each : w) each -= least;
        for (double& each : u) each += least;
    }

    // A row bids for its best column until it is as good as the second best, and takes it from who has it. Dummies are
    // alike: a row takes one that is left, and a row of dummies a column without a price.
    void reduce() {
        Vector<i64> open(dummy_row), next;
        std::iota(open.begin(), open.end(), 0);
        i64 left = dummy_column + 1 < columns ? dummy_column : columns; // the first dummy column that is left
        for (int turn = 0; turn < reductions && !open.empty(); ++turn, std::swap(open, next)) {
            next.clear();
            for (const i64 i : open) {
                pace.after(2 * columns);
                Best best = two_best(line(i), w.data(), columns);
                u[i] = std::max(best.second, 0.0);
                if (best.first <= 0.0) continue; // nothing is worth its price
                for (i64 j = best.at; best.first == best.second && row[best.at] >= 0 && j < columns; ++j)
                    if (row[j] < 0 && line(i)[j] - w[j] == best.first) best.at = j; // of ties one that is free
                if (best.at >= dummy_column && dummy_column + 1 < columns) {
                    if (left == columns) continue;
                    best.at = left++;
                }
                w[best.at] += best.first - u[i];
                if (row[best.at] >= 0) {
                    column[row[best.at]] = -1;
                    next.push_back(row[best.at]);
                }
                row[best.at] = i;
                column[i] = best.at;
            }
        }
        for (i64 i = dummy_row, j = 0; i < rows && j < dummy_column; ++j)
            if (row[j] < 0 && w[j] == 0.0) {
                row[j] = i;
                column[i] = j;
                u[i++] = dummy;
            }
    }

    // Gives a row a column by a shortest path; the row at its end, which may be itself, has none afterwards where
    // that costs less.
    void augment(i64 start) {
        std::ranges::fill(distance, inf);
        std::ranges::fill(closed, 0.0);
        looked.clear();
        double base = 0.0, drop = inf, length;
        i64 i = start, dropped = -1, end = -1;
        while (true) {
            looked.push_back({i, base});
            pace.after(columns);
            if (base + u[i] < drop && dummy_row == rows && !all_assigned) { // with dummies, none stays without
                drop = base + u[i];
                dropped = i;
            }
            const auto [least, free] = relax(line(i), w.data(), base + u[i], static_cast<double>(i), columns,
                                             closed.data(), taken.data(), distance.data(), before.data());
            if (drop <= least) {
                length = drop;
                break;
            }
            const Vector<double>& barred = free == least ? taken : closed; // of those that tie, one that is free
            i64 j = 0;
            while (distance[j] + barred[j] != least) ++j;
            base = least;
            if (row[j] < 0) {
                length = least;
                end = j;
                dropped = -1;
                taken[j] = inf;
                break;
            }
            closed[j] = inf;
            i = row[j];
        }
        for (const Looked& each : looked) u[each.row] -= length - each.base;
        for (i64 j = 0; j < columns; ++j)
            if (closed[j] > 0.0) w[j] += length - distance[j];
        if (dropped >= 0) {
            end = column[dropped];
            column[dropped] = -1;
            if (dropped == start) return;
        }
        for (i64 j = end;;) {
            const i64 r = static_cast<i64>(before[j]), given = column[r];
            row[j] = r;
            column[r] = j;
            if (r == start) return;
            j = given;
        }
    }

    // A column that began with a price and has no row takes one from another, by a shortest path to a column whose
    // price falls to nothing. Rows without a column stay so: all that breaks ties is less than a worth.
    void release(i64 start) {
        std::ranges::fill(distance, inf);
        std::ranges::fill(closed, 0.0);
        distance[start] = 0.0;
        double length = inf, d = 0.0;
        i64 end = start, j = start;
        while (d < length) {
            pace.after(rows + columns);
            closed[j] = inf;
            if (d + w[j] < length) {
                length = d + w[j];
                end = j;
            }
            for (i64 i = 0; i < rows; ++i) {
                if (column[i] < 0) continue;
                const double through = d + u[i] + w[j] - line(i)[j];
                if (through >= distance[column[i]]) continue;
                distance[column[i]] = through;
                before[column[i]] = static_cast<double>(j);
            }
            d = inf;
            for (i64 k = 0; k < columns; ++k)
                if (distance[k] + closed[k] < d) {
                    d = distance[k];
                    j = k;
                }
        }
        for (i64 k = 0; k < columns; ++k) {
            if (closed[k] == 0.0) continue;
            w[k] -= length - distance[k];
            if (row[k] >= 0) u[row[k]] += length - distance[k];
        }
        i64 given = -1;
        for (i64 k = end;; k = static_cast<i64>(before[k])) {
            std::swap(row[k], given);
            if (row[k] >= 0) column[row[k]] = k;
            if (k == start) return;
        }
    }

    void solve(Effort& effort) {
        reduce();
        for (i64 j = 0; j < columns; ++j)
            if (row[j] >= 0) taken[j] = inf;
        for (i64 i = 0; i < rows; ++i)
            if (column[i] < 0) {
                u[i] = std::max(two_best(line(i), w.data(), columns).first, 0.0);
                augment(i);
                ++effort.paths;
            }
        for (i64 j = 0; j < columns && !all_assigned && dummy_row == rows; ++j)
            if (row[j] < 0 && w[j] > 0.0) {
                release(j);
                ++effort.paths;
            }
    }

    const i64 rows, columns;
    i64 dummy_row = rows, dummy_column = columns;
    double dummy = 0.0;
    bool all_assigned = false;
    std::span<const double> worth;
    Vector<double> u, w;
    Vector<i64> column, row;

private:
    struct Looked {
        i64 row;
        double base;
    };

    const double* line(i64 i) const { return worth.data() + i * columns; }

    Vector<double> distance, closed, taken, before;
    Vector<Looked> looked;
    interrupt::Pace pace;
};

// With fewer places in all than rows and columns, a dummy column for each row that is to stay without, and the other
// way round: a dummy is worth as much as anything, so that all of them are taken.
Vector<double> with_dummies(std::span<const double> worth, i64 rows, i64 columns, i64 total, double dummy) {
    const i64 side = rows + columns - total;
    Vector<double> found(side * side);
    for (i64 i = 0; i < rows; ++i) {
        std::copy_n(worth.begin() + i * columns, columns, found.begin() + i * side);
        std::fill_n(found.begin() + i * side + columns, side - columns, dummy);
    }
    for (i64 i = rows; i < side; ++i) std::fill_n(found.begin() + i * side, columns, dummy);
    return found;
}

} // namespace

void assign(const Layout& layout, const Elements& all, double common, double limit, Prices& prices, Effort& effort) {
    const i64 rows = layout.rows() - 1, columns = layout.columns() - 1, total = layout.total;
    const bool limited = total < std::min(rows, columns), turned = !limited && rows > columns;
    Vector<double> made;
    if (limited) made = with_dummies(all.whole, rows, columns, total, limit);
    if (turned) {
        made.resize(all.whole.size());
        for (i64 i = 0; i < rows; ++i)
            for (i64 j = 0; j < columns; ++j) made[j * rows + i] = all.whole[i * columns + j];
    }
    const i64 side = rows + columns - total;
    Matrix matrix(made.empty() ? all.whole : made, limited ? side : turned ? columns : rows,
                  limited ? side : turned ? rows : columns);
    const bool tied = common > 1.0;
    if (limited) {
        if (tied) std::ranges::copy(falling_prices(all.whole, rows, columns, common, total), prices.w.begin());
        matrix.begin(rows, columns, limit, prices.w);
    } else if (tied) {
        matrix.w = falling_prices(matrix.worth, matrix.rows, matrix.columns, common, matrix.rows);
        matrix.all_assigned = rows == columns; // of a square, as nothing is worth less than nothing
    }
    matrix.solve(effort);
    if (matrix.all_assigned) matrix.end();
    std::copy_n((turned ? matrix.w : matrix.u).begin(), rows, prices.u.begin());
    std::copy_n((turned ? matrix.u : matrix.w).begin(), columns, prices.w.begin());
    prices.y0 = 0.0;
    if (limited) { // what a row or a column costs beyond a dummy
        const double row = limit - matrix.w[columns], column = limit - matrix.u[rows];
        for (i64 i = 0; i < rows; ++i) prices.u[i] -= row;
        for (i64 j = 0; j < columns; ++j) prices.w[j] -= column;
        prices.y0 = row + column;
    }
    std::ranges::fill(all.state, 0);
    for (i64 i = 0; i < (limited ? rows : matrix.rows); ++i) {
        const i64 j = matrix.column[i];
        if (j < 0 || (limited && j >= columns)) continue;
        const i64 k = turned ? j * columns + i : i * columns + j;
        all.state[k] = all.whole[k] > 0;
    }
}

} // namespace optiframe::tvcs
