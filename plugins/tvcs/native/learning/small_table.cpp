#include "small_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <optiframe/dispatch.hpp>
#include <optiframe/vector_math.hpp>

namespace optiframe::tvcs::fits {

namespace {

constexpr int newton_steps = 50, halvings = 40; // these and the next as in learning/restricted.py, which says why
constexpr double slow = 0.2, enough = 1e-4, rounding = 10 * std::numeric_limits<double>::epsilon();
constexpr double flat = 708.0; // margins beyond have no second derivative

struct Row {
    double loss, slope, bend;
};

[[gnu::always_inline]] inline Row of_squares(double z, double y) { return {(z - y) * (z - y) / 2.0, z - y, 1.0}; }
[[gnu::always_inline]] inline Row of_logistic(double z, double y) {
    const double margin = y * z, size = std::abs(margin);
    const double t = size > flat ? 0.0 : exp(-size), share = 1.0 / (1.0 + t);
    return {0.5 * (size - margin) + log1p(t), -y * (margin < 0.0 ? share : t * share), t * share * share};
}
[[gnu::always_inline]] inline Row of_hinge(double z, double y) {
    const double missing = std::max(0.0, 1.0 - y * z);
    return {missing * missing, -2.0 * y * missing, missing > 0.0 ? 2.0 : 0.0};
}

template <Row of(double, double)>
[[gnu::always_inline]] inline void each_row(const double* __restrict z, const double* __restrict y,
                                            double* __restrict loss, double* __restrict slopes,
                                            double* __restrict bends, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const Row row = of(z[i], y[i]);
        loss[i] = row.loss;
        slopes[i] = row.slope;
        bends[i] = row.bend;
    }
}
OPTIFRAME_CLONES void rows_of(Loss loss, const double* z, const double* y, double* values, double* slopes,
                              double* bends, std::size_t n) {
    if (loss == Loss::least_squares) each_row<of_squares>(z, y, values, slopes, bends, n);
    else if (loss == Loss::logistic) each_row<of_logistic>(z, y, values, slopes, bends, n);
    else each_row<of_hinge>(z, y, values, slopes, bends, n);
}

double length(const Numbers& a) { return std::sqrt(dot(a, a.data())); }

// The model over a few of the columns.
class Restricted {
public:
    Restricted(const SmallTable& table, const Indices& at)
        : table(table), at(at), k(at.size()), block(table.block(at)) {}

    double value(const Numbers& x, Numbers& gradient) {
        const std::size_t n = table.rows;
        Numbers z(n, 0.0);
        for (std::size_t j = 0; j < k; ++j) add(x[j], &block[j * n], z);
        const double loss = table.losses(z, slopes, bends);
        gradient.resize(k);
        double penalty = 0.0;
        for (std::size_t j = 0; j < k; ++j) {
            const double ridge = table.ridge[at[j]];
            gradient[j] = dot(slopes, &block[j * n]) + ridge * x[j];
            penalty += ridge * x[j] * x[j] / 2;
        }
        return loss + penalty;
    }

    // The lower half by columns, at the point of the last value.
    Numbers hessian() const {
        const std::size_t n = table.rows;
        Numbers weighted(block), found(k * k);
        for (std::size_t j = 0; j < k; ++j)
            for (std::size_t i = 0; i < n; ++i) weighted[j * n + i] *= std::sqrt(bends[i]);
        char lower = 'L', transposed = 'T';
        int order = static_cast<int>(k), depth = static_cast<int>(n);
        double one = 1.0, zero = 0.0;
        table.lapack.dsyrk(&lower, &transposed, &order, &depth, &one, weighted.data(), &depth, &zero, found.data(),
                           &order);
        for (std::size_t j = 0; j < k; ++j) found[j * (k + 1)] += table.ridge[at[j]];
        return found;
    }

private:
    const SmallTable& table;
    const Indices& at;
    std::size_t k;
    Numbers block, slopes, bends;
};

Numbers ahead_of(const Numbers& z, double share, const Numbers& step) {
    Numbers found(z);
    add(share, step.data(), found);
    return found;
}

} // namespace

double SmallTable::losses(const Numbers& z, Numbers& slopes, Numbers& bends) const {
    Numbers values(rows);
    slopes.resize(rows);
    bends.resize(rows);
    rows_of(loss, z.data(), target, values.data(), slopes.data(), bends.data(), rows);
    double sum = 0.0;
    for (std::size_t i = 0; i < rows; ++i) {
        sum += values[i] * weights[i];
        slopes[i] *= weights[i];
        bends[i] *= weights[i];
    }
    return sum;
}

Numbers SmallTable::block(const Indices& at) const {
    Numbers found(at.size() * rows);
    for (std::size_t j = 0; j < at.size(); ++j)
        for (std::size_t i = 0; i < rows; ++i) found[j * rows + i] = matrix[i * row_step + at[j] * column_step];
    return found;
}

Numbers SmallTable::predictions(const Point& x) const {
    Numbers z(rows, 0.0);
    for (std::size_t j = 0; j < x.at.size(); ++j)
        for (std::size_t i = 0; i < rows; ++i) z[i] += x.values[j] * matrix[i * row_step + x.at[j] * column_step];
    return z;
}

double SmallTable::penalty(const Point& x) const {
    double found = 0.0;
    for (std::size_t j = 0; j < x.at.size(); ++j) found += ridge[x.at[j]] * x.values[j] * x.values[j] / 2;
    return found;
}

double SmallTable::value(const Point& x) const {
    Numbers slopes, bends;
    return losses(predictions(x), slopes, bends) + penalty(x);
}

Numbers SmallTable::gradient(const Point& x, const Numbers& slopes) const {
    Numbers found(columns, 0.0);
    if (column_step == 1)
        for (std::size_t i = 0; i < rows; ++i) add(slopes[i], matrix + i * row_step, found);
    else
        for (std::size_t j = 0; j < columns; ++j) found[j] = dot(slopes, matrix + j * column_step);
    for (std::size_t j = 0; j < x.at.size(); ++j) found[x.at[j]] += ridge[x.at[j]] * x.values[j];
    return found;
}

std::optional<Point> SmallTable::fit(const Point& start, double accuracy, double least, Numbers hessian) const {
    Restricted model(*this, start.at);
    Numbers z = start.values, gradient, after;
    model.value(Numbers(z.size(), 0.0), gradient);
    const double goal = accuracy * length(gradient);
    double value = model.value(z, gradient);
    bool current = true; // whether the model's last value was at z
    for (int step = 0; step < newton_steps; ++step) {
        const double size = length(gradient);
        if (size <= goal) break;
        const bool old = !hessian.empty();
        if (!old) {
            if (!current) model.value(z, gradient);
            hessian = model.hessian();
        }
        std::optional<Numbers> move = lapack.solved(hessian, gradient, gradient.size());
        if (!move) return std::nullopt;
        for (double& each : *move) each = -each;
        const double fall = dot(gradient, move->data()); // twice what a quadratic falls by
        if (value + fall > least) break;
        double share = 1.0, ahead = 0.0;
        Numbers next;
        int halved = 0;
        for (; halved < halvings; ++halved, share /= 2) {
            next = ahead_of(z, share, *move);
            ahead = model.value(next, after);
            if (old || ahead <= value + enough * share * fall + rounding * std::abs(value)) break;
        }
        if (halved == halvings) break;
        current = !(old && !(ahead <= value + enough * fall));
        if (!current) {
            hessian.clear();
            continue;
        }
        z = next;
        value = ahead;
        gradient = after;
        if (length(gradient) > slow * size) hessian.clear();
    }
    return Point{start.at, z};
}

} // namespace optiframe::tvcs::fits
