#include "rows.hpp"

#include <algorithm>
#include <cmath>

namespace optiframe::hodgerank {

RowsByPair::RowsByPair(i64 items, const Comparisons& rows, std::span<const double> weight)
    : first_pair_(items + 1), margin_(room<double>(rows.rows())), weight_(room<double>(rows.rows())) {
    const ByPair sorted = by_pair(items, rows.rows(), [&](i64 row) { return rows.pair(row, items); });
    const auto begins_pair = [&sorted](i64 i, i64 e) {
        return e == sorted.first[i] || sorted.entries[e].item != sorted.entries[e - 1].item;
    };
    interrupt::Pace pace;
    for (i64 i = 0; i < items; ++i) {
        first_pair_[i + 1] = first_pair_[i];
        for (i64 e = sorted.first[i]; e < sorted.first[i + 1]; ++e) first_pair_[i + 1] += begins_pair(i, e);
        pace.after(sorted.first[i + 1] - sorted.first[i] + 1);
    }
    other_.reserve(first_pair_.back());
    whole_.reserve(first_pair_.back());
    first_row_.reserve(first_pair_.back() + 1);
    for (i64 i = 0; i < items; ++i) {
        for (i64 e = sorted.first[i]; e < sorted.first[i + 1]; ++e) {
            const Entry& each = sorted.entries[e];
            margin_[e] = rows.margin[each.row];
            weight_[e] = weight[each.row];
            if (begins_pair(i, e)) {
                other_.push_back(static_cast<i32>(each.item));
                first_row_.push_back(e);
                whole_.push_back(0.0);
            }
            whole_.back() += weight_[e];
        }
        pace.after(sorted.first[i + 1] - sorted.first[i] + 1);
    }
    first_row_.push_back(rows.rows());
}

double RowsByPair::huber(double level, std::span<const double> scores, double anchor, std::span<double> kept,
                         std::span<double> force) const {
    interrupt::Pace pace;
    std::ranges::fill(force, 0.0);
    const double share[] = {anchor, 1.0};
    double loss = 0.0;
    i64 e = 0;
    for (i64 i = 0; i < items(); ++i) {
        const i64 begin = e, end = first_pair_[i + 1];
        const double here = scores[i];
        double pull = 0.0, part = 0.0;
        for (i64 p = first_pair_[i]; p < end; ++p) {
            const u32 j = static_cast<u32>(other_[p]);
            const double between = here - scores[j];
            double pair_pull = 0.0, near = 0.0;
            const i64 last = first_row_[p + 1];
            do { // a pair has a row or more
                const double misfit = margin_[e] - between, held = std::min(std::max(misfit, -level), level);
                const double row_pull = weight_[e] * held;
                pair_pull += row_pull;
                part += row_pull * (misfit - 0.5 * held);
                near += share[std::abs(misfit) <= level] * weight_[e]; // a branch would be foreseen half of the time
            } while (++e != last);
            kept[p] = near;
            pull += pair_pull;
            force[j] -= pair_pull;
        }
        force[i] += pull;
        loss += part; // item by item, which keeps the rounding of a long sum small
        pace.after(e - begin + 1);
    }
    return loss;
}

void RowsByPair::degrees(std::span<const double> kept, std::span<double> degree) const {
    interrupt::Pace pace;
    std::ranges::fill(degree, 0.0);
    for (i64 i = 0; i < items(); ++i) {
        const i64 end = first_pair_[i + 1];
        double total = 0.0;
#pragma GCC unroll 4
        for (i64 p = first_pair_[i]; p < end; ++p) {
            total += kept[p];
            degree[static_cast<u32>(other_[p])] += kept[p];
        }
        degree[i] += total;
        pace.after(end - first_pair_[i] + 1);
    }
}

void RowsByPair::laplacian_product(std::span<const double> kept, std::span<const double> v,
                                   std::span<double> product) const {
    interrupt::Pace pace;
    std::ranges::fill(product, 0.0);
    for (i64 i = 0; i < items(); ++i) {
        const i64 end = first_pair_[i + 1];
        const double here = v[i];
        double out = 0.0;
#pragma GCC unroll 4
        for (i64 p = first_pair_[i]; p < end; ++p) {
            const u32 j = static_cast<u32>(other_[p]);
            const double flow = kept[p] * (here - v[j]);
            out += flow;
            product[j] -= flow;
        }
        product[i] += out;
        pace.after(end - first_pair_[i] + 1);
    }
}

i64 RowsByPair::parts(std::span<const double> kept, double least) const {
    std::vector<i64> above(items()); // of each item another of its component, in the end one that is its own
    std::iota(above.begin(), above.end(), 0);
    const auto root = [&above](i64 a) {
        while (above[a] != a) a = above[a] = above[above[a]];
        return a;
    };
    interrupt::Pace pace;
    i64 found = items();
    for (i64 i = 0; i < items(); ++i) {
        for (i64 p = first_pair_[i]; p < first_pair_[i + 1]; ++p)
            if (kept[p] > least * whole_[p]) {
                const i64 a = root(i), b = root(other_[p]);
                if (a == b) continue;
                --found;
                above[std::max(a, b)] = std::min(a, b);
            }
        pace.after(first_pair_[i + 1] - first_pair_[i] + 1);
    }
    return found;
}

} // namespace optiframe::hodgerank
