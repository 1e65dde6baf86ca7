#include "certify.hpp"

#include <algorithm>
#include <limits>

#include <optiframe/dispatch.hpp>
#include <optiframe/interrupt.hpp>

#include "flow.hpp"
#include "sweeps.hpp"

namespace optiframe::tvcs {

namespace {

constexpr int rounds = 40; // lists tried before giving up; each but a widened one ends with fewer wrong

struct RowSums {
    i64 count, failures;
};

// Of the elements of one row: how many are chosen, and how many fail.
OPTIFRAME_CLONES RowSums verify_row(i64 n, const double* whole, const i32* column, const u8* state,
                                    double threshold, const double* price) {
    i64 count = 0, failures = 0;
    for (i64 k = 0; k < n; ++k) { // no branches: vectorized
        const double q = whole[k], z = q - threshold - price[column[k]];
        const i64 x = state[k] & chosen_bit;
        count += x;
        failures +=
            (x & (static_cast<i64>(z < 0) | static_cast<i64>(q <= 0))) | ((1 - x) & static_cast<i64>(z > 0));
    }
    return {count, failures};
}

} // namespace

i64 work_for(std::size_t elements) { return 20 * static_cast<i64>(elements) + 50'000; }

bool worth_carrying(const Flow& flow, i64 work) { return flow.units() * flow.nodes() <= work / 2 + 25'000; }

i64 failures(const Elements& all, const Bounds& bounds, const Prices& prices) {
    i64 found = 0, held = 0;
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
        found += row.failures + broken(row.count, bounds.rows[i], prices.u[i]);
        held += row.count;
    }
    for (i64 j = 0; j < all.columns; ++j) found += broken(columns[j], bounds.columns[j], prices.w[j]);
    return found + broken(held, bounds.total, prices.y0);
}

bool certify(const Elements& all, const Bounds& bounds, Found& found, bool tied, i64 work, double limit,
             Prices& prices, Effort& effort) {
    const i64 most = effort.arcs + work;
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
    if (!tied && !worth_carrying(flow, work_for(all.whole.size()))) {
        flow.read_prices(limit, prices);
        return false;
    }
    for (effort.rounds = 1; effort.rounds <= rounds; ++effort.rounds) {
        const Columns columns = by_columns(list.view(), list.worth, all.columns);
        const Arcs arcs{list.view(), list.worth, columns.view(), columns.worth, columns.place, list.chosen};
        const Carried how = carry_all(flow, arcs, most - effort.arcs, effort);
        for (i64 k = 0; k < list.size(); ++k) all.state[list.place[k]] = listed_bit | list.chosen[k];
        if (how == Carried::too_much_work) {
            flow.read_prices(limit, prices);
            return false;
        }
        if (how == Carried::no_path) {
            // What lies next to the thresholds decides; after three times all elements do.
            if (effort.rounds > 3) std::ranges::fill(found.windows.rows, inf);
            price_out(all, flow.phi, found.windows, std::ldexp(1.0, 2 * static_cast<int>(effort.rounds)),
                      found.listed, flow.excess);
        } else {
            flow.read_prices(limit, prices);
            if (failures(all, bounds, prices) == 0) return true;
            if (price_out(all, flow.phi, found.windows, -1.0, found.listed, flow.excess) == 0) return false;
        }
        list = gather(all, found.listed);
    }
    return false;
}

} // namespace optiframe::tvcs
