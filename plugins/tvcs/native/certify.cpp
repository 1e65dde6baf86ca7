#include "certify.hpp"

#include <algorithm>
#include <limits>

#include <optiframe/dispatch.hpp>
#include <optiframe/interrupt.hpp>

#include "flow.hpp"
#include "sweeps.hpp"

namespace optiframe::tvcs {

namespace {

constexpr int half = 26; // bits of the lower part of a sum, whose upper part counts 2^26
constexpr i64 rest = (i64{1} << half) - 1;
constexpr int rounds = 40; // lists tried before the fallback; each but a widened one ends with fewer wrong

// Arcs that the repair may look at before the fallback.
i64 work_for(std::size_t elements) { return 60 * static_cast<i64>(elements) + 100'000; }

struct RowSums {
    i64 high, low, count, failures;
};

// Of the elements of one row: the worth of the chosen, their number, and how many fail.
OPTIFRAME_CLONES RowSums verify_row(i64 n, const double* whole, const i32* column, const u8* state,
                                    double threshold, const double* price) {
    i64 high = 0, low = 0, count = 0, failures = 0;
    for (i64 k = 0; k < n; ++k) { // no branches and only whole sums: vectorized
        const double q = whole[k], z = q - threshold - price[column[k]];
        const i64 x = state[k] & chosen_bit, kept = static_cast<i64>(q) * x;
        high += kept >> half;
        low += kept & rest;
        count += x;
        failures +=
            (x & (static_cast<i64>(z < 0) | static_cast<i64>(q <= 0))) | ((1 - x) & static_cast<i64>(z > 0));
    }
    return {high, low, count, failures};
}

// The bound by prices that fail, and the worst element.
void blame(const Elements& all, const Bounds& bounds, const Prices& prices, Proof& proof) {
    i64 high = 0, low = 0;
    const auto add = [&](double price, i64 times) {
        high += (static_cast<i64>(price) >> half) * times;
        low += (static_cast<i64>(price) & rest) * times;
    };
    add(prices.y0, bounds.total);
    for (std::size_t j = 0; j < bounds.columns.size(); ++j) add(prices.w[j], bounds.columns[j]);
    double failure = 0.0;
    for (i64 i = 0; i < all.view.groups(); ++i) {
        add(prices.u[i], bounds.rows[i]);
        for (i64 k = all.view.first[i]; k < all.view.first[i + 1]; ++k) {
            const double z = all.whole[k] - prices.y0 - prices.u[i] - prices.w[all.view.other[k]];
            if (z > 0) add(z, 1);
            const double wrong = all.state[k] & chosen_bit ? -z : z;
            if (wrong > failure) {
                failure = wrong;
                proof.worst = k;
            }
        }
    }
    proof.bound_high = high;
    proof.bound_low = low;
    proof.failure = static_cast<i64>(failure);
}

// Carries all excess to lacks on one list. Ties are carried by blocking flows, and with `together` paths
// are looked for from all excess at once.
Carried carry_all(Flow& flow, const Arcs& arcs, i64 budget, bool together, Effort& effort) {
    while (true) {
        if (together) drain(flow, arcs, effort);
        if (flow.units() == 0) return Carried::all;
        if (together && effort.arcs > budget) return Carried::too_much_work;
        const Carried how = repair(flow, arcs, budget - effort.arcs, together, effort);
        if (how != Carried::all) return how;
    }
}

// As `certify`, with all elements as the list and exact prices from none, where the windows around smoothed
// prices missed what decides; half the work again.
Proof certify_all(const Elements& all, const Bounds& bounds, double limit, Prices& prices, Effort& effort) {
    std::vector<double> worth(all.whole.begin(), all.whole.end());
    for (double& q : worth)
        if (q <= 0) q = -inf; // of an arc: what is worth nothing is never chosen
    const Sure none{std::vector<i64>(all.view.groups()), std::vector<i64>(all.columns)};
    const Counts counts = choose_by_sweeps({all.view, worth, all.state, none}, bounds, true, prices);
    Flow flow(bounds, prices);
    flow.start(counts);
    const bool together = flow.units() > 4 * flow.source;
    const Columns columns = by_columns(all.view, worth, all.columns);
    const Arcs arcs{all.view, worth, columns.view(), columns.worth, columns.place, all.state};
    const Carried how = carry_all(flow, arcs, effort.arcs + work_for(worth.size()) / 2, together, effort);
    if (how != Carried::all) {
        Proof open;
        open.failures = 1;
        return open;
    }
    flow.read_prices(limit, prices);
    return verify(all, bounds, prices);
}

} // namespace

Proof verify(const Elements& all, const Bounds& bounds, const Prices& prices) {
    Proof proof;
    i64 held = 0;
    std::vector<i64> columns(all.columns);
    // A price that is not a number fails, too.
    const auto broken = [](i64 count, i64 bound, double price) {
        return count > bound || !(price >= 0) || (price > 0 && count != bound);
    };
    interrupt::Pace pace;
    for (i64 i = 0; i < all.view.groups(); ++i) {
        const i64 first = all.view.first[i], n = all.view.first[i + 1] - first;
        pace.after(n);
        const RowSums row = verify_row(n, all.whole.data() + first, all.view.other.data() + first,
                                       all.state.data() + first, prices.y0 + prices.u[i], prices.w.data());
        for (i64 k = first; k < first + n; ++k) columns[all.view.other[k]] += all.state[k] & chosen_bit;
        proof.worth_high += row.high;
        proof.worth_low += row.low;
        proof.failures += row.failures + broken(row.count, bounds.rows[i], prices.u[i]);
        held += row.count;
    }
    for (i64 j = 0; j < all.columns; ++j) proof.failures += broken(columns[j], bounds.columns[j], prices.w[j]);
    proof.failures += broken(held, bounds.total, prices.y0);
    proof.bound_high = proof.worth_high;
    proof.bound_low = proof.worth_low;
    if (proof.failures > 0) blame(all, bounds, prices, proof);
    return proof;
}

Proof certify(const Elements& all, const Bounds& bounds, Found& found, double unit, double limit, bool forced,
              Prices& prices, Effort& effort) {
    const i64 budget = work_for(all.whole.size());
    List& list = found.list;
    effort.candidates = list.size();
    Counts counts{found.sure.rows, found.sure.columns};
    for (i64 i = 0; i < all.view.groups(); ++i)
        for (i64 k = list.first[i]; k < list.first[i + 1]; ++k) {
            counts.rows[i] += list.chosen[k];
            counts.columns[list.column[k]] += list.chosen[k];
        }
    Flow flow(bounds, prices);
    flow.start(counts);
    improve({list.view(), list.worth, list.chosen, found.sure}, prices, counts, flow);
    effort.units = flow.units();
    const bool together = unit > 1.0 || effort.units > 4 * flow.source;
    for (effort.rounds = 1; effort.rounds <= rounds; ++effort.rounds) {
        const Columns columns = by_columns(list.view(), list.worth, all.columns);
        const Arcs arcs{list.view(), list.worth, columns.view(), columns.worth, columns.place, list.chosen};
        const Carried how = carry_all(flow, arcs, budget, together, effort);
        for (i64 k = 0; k < list.size(); ++k) all.state[list.place[k]] = listed_bit | list.chosen[k];
        if (how == Carried::too_much_work || forced) break;
        if (how == Carried::no_path) {
            // What lies next to the thresholds decides; after three times all elements do.
            if (effort.rounds > 3) std::ranges::fill(found.windows.rows, inf);
            price_out(all, flow.phi, found.windows, std::ldexp(1.0, 2 * static_cast<int>(effort.rounds)),
                      found.listed, flow.excess);
        } else {
            flow.read_prices(limit, prices);
            const Proof proof = verify(all, bounds, prices);
            if (proof.failures == 0) return proof;
            if (price_out(all, flow.phi, found.windows, -1.0, found.listed, flow.excess) == 0) break;
        }
        list = gather(all, found.listed);
    }
    if (!forced) {
        const Proof proof = certify_all(all, bounds, limit, prices, effort);
        if (proof.failures == 0) return proof;
    }
    effort.fallback = true;
    bit_scaling(all, bounds, limit, prices, effort);
    return verify(all, bounds, prices);
}

void bit_scaling(const Elements& all, const Bounds& bounds, double limit, Prices& prices, Effort& effort) {
    std::vector<i64> listed(all.view.groups());
    double top = 0.0;
    for (i64 i = 0; i < all.view.groups(); ++i)
        for (i64 k = all.view.first[i]; k < all.view.first[i + 1]; ++k) {
            all.state[k] = all.whole[k] > 0 ? listed_bit : 0;
            listed[i] += all.whole[k] > 0;
            top = std::max(top, all.whole[k]);
        }
    List list = gather(all, listed);
    const std::vector<double> exact = std::move(list.worth);
    list.worth.assign(exact.size(), 0.0);
    Columns columns = by_columns(list.view(), list.worth, all.columns);
    const Arcs arcs{list.view(), list.worth, columns.view(), columns.worth, columns.place, list.chosen};
    std::ranges::fill(prices.u, 0.0);
    std::ranges::fill(prices.w, 0.0);
    prices.y0 = 0.0;
    Flow flow(bounds, prices);
    int bits;
    std::frexp(top, &bits);
    for (int shift = bits - 1; shift >= 0; --shift) {
        for (double& potential : flow.phi) potential *= 2.0;
        Counts counts{std::vector<i64>(flow.rows), std::vector<i64>(flow.columns)};
        for (i64 i = 0; i < flow.rows; ++i)
            for (i64 k = list.first[i]; k < list.first[i + 1]; ++k) {
                const i32 j = list.column[k];
                list.worth[k] = std::floor(std::ldexp(exact[k], -shift));
                const double z = list.worth[k] - flow.phi[i] + flow.phi[flow.rows + j];
                if (z != 0) list.chosen[k] = z > 0;
                counts.rows[i] += list.chosen[k];
                counts.columns[j] += list.chosen[k];
            }
        for (std::size_t k = 0; k < columns.place.size(); ++k) columns.worth[k] = list.worth[columns.place[k]];
        flow.start(counts);
        carry_all(flow, arcs, std::numeric_limits<i64>::max(), true, effort);
    }
    for (i64 k = 0; k < list.size(); ++k) all.state[list.place[k]] = listed_bit | list.chosen[k];
    flow.read_prices(limit, prices);
}

} // namespace optiframe::tvcs
