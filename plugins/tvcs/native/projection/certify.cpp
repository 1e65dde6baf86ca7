#include "certify.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <optiframe/dispatch.hpp>
#include <optiframe/interrupt.hpp>

#include "flow.hpp"
#include "simplex.hpp"
#include "sweeps.hpp"

namespace optiframe::tvcs {

namespace {

// Sweeps may leave the windows, and where worths tie all of the next level is missing there: only if they leave so few
// units of those there were are their prices taken.
constexpr double much_better = 0.38;
constexpr i64 many_units = 20;     // for a simplex: a few are carried sooner along paths
constexpr i64 simplex_looks = 120; // at each element of a list, before a simplex is given up
constexpr int rounds = 40; // lists tried before giving up; each but a widened one ends with fewer wrong

struct RowSums {
    i64 count, failures, open;
};

// Of the elements of one row: how many are chosen, how many fail, and how many are next to their thresholds.
// The prices are those of their columns, or without these one for each element.
OPTIFRAME_CLONES RowSums verify_row(i64 n, const double* whole, const i32* column, const u8* state, double threshold,
                                    const double* price, double within) {
    i64 count = 0, failures = 0, open = 0;
    for (i64 k = 0; k < n; ++k) { // no branches: vectorized
        const double q = whole[k], z = q - threshold - price[column ? column[k] : k];
        const i64 x = state[k] & chosen_bit;
        count += x;
        failures +=
            (x & (static_cast<i64>(z < 0) | static_cast<i64>(q <= 0))) | ((1 - x) & static_cast<i64>(z > 0));
        open += std::abs(z) <= within;
    }
    return {count, failures, open};
}

// Moves what is on the wrong side at the potentials, and the excess that this makes.
void choose_again(List& list, Flow& flow) {
    for (i64 i = 0; i < flow.rows; ++i)
        for (i64 k = list.first[i]; k < list.first[i + 1]; ++k) {
            const i64 j = flow.rows + list.column[k];
            const double z = list.worth[k] - flow.phi[i] + flow.phi[j];
            if (list.chosen[k] ? z >= 0 : z <= 0) continue;
            const i64 change = list.chosen[k] ? 1 : -1;
            flow.excess[i] += change;
            flow.excess[j] -= change;
            list.chosen[k] ^= chosen_bit;
        }
}

} // namespace

i64 work_for(std::size_t elements) { return 20 * static_cast<i64>(elements) + 50'000; }

bool worth_carrying(const Flow& flow, i64 work) { return flow.units() * flow.nodes() <= work / 2 + 25'000; }

i64 failures(const Elements& all, const Bounds& bounds, const Prices& prices) {
    i64 found = 0, held = 0;
    Vector<i64> columns(all.columns);
    // A price that is not a number fails, too.
    const auto broken = [](i64 count, i64 bound, double price) {
        return count > bound || !(price >= 0) || (price > 0 && count != bound);
    };
    interrupt::Pace pace;
    for (i64 i = 0; i < all.view.groups(); ++i) {
        const i64 first = all.view.first[i], n = all.view.first[i + 1] - first;
        pace.after(n);
        const u8* state = all.state.data() + first;
        const i32* column = all.view.other.data() + first;
        const bool runs = all.view.runs && n > 0;
        const double* price = prices.w.data() + (runs ? column[0] : 0);
        const RowSums row = verify_row(n, all.whole.data() + first, runs ? nullptr : column, state,
                                       prices.y0 + prices.u[i], price, all.within());
        count_alike(all.view, first, first + n, state, chosen_bit, chosen_bit, columns);
        if (!all.open.empty()) all.open[i] = row.open;
        found += row.failures + broken(row.count, bounds.rows[i], prices.u[i]);
        held += row.count;
    }
    for (i64 j = 0; j < all.columns; ++j) found += broken(columns[j], bounds.columns[j], prices.w[j]);
    return found + broken(held, bounds.total, prices.y0);
}

bool certify(const Elements& all, const Bounds& bounds, Found& found, double common, i64 work, double limit,
             Carry carry, Prices& prices, Effort& effort) {
    const i64 most = effort.arcs + work;
    List& list = found.list;
    effort.candidates = list.size();
    const Choice choice{list.view(), list.worth, list.chosen, found.sure};
    Counts counts = choose(choice, bounds, prices);
    Flow flow(bounds, prices);
    flow.start(counts);
    const bool tied = common > 1.0;
    // Where each level of worths holds some elements of a group, sweeps say no more than smoothing did.
    const bool levels = common * static_cast<double>(all.whole.size()) > limit * static_cast<double>(flow.source);
    if (!tied || !levels) improve(choice, tied ? much_better : 1.0, true, prices, counts, flow);
    effort.units = flow.units();
    if (!tied && !worth_carrying(flow, work_for(all.whole.size()))) {
        flow.read_prices(limit, prices);
        return false;
    }
    const bool simplex = carry == Carry::by_simplex;
    if (simplex && 2 * effort.units > std::reduce(counts.rows.begin(), counts.rows.end())) return false;
    for (effort.rounds = 1; effort.rounds <= rounds; ++effort.rounds) {
        // Flow and choice of the list agree here; to begin again is to go back to both.
        const Flow before = flow;
        Vector<u8> chosen = list.chosen;
        const Columns columns = found.columns.first.empty() ? by_columns(list.view(), list.worth, all.columns)
                                                            : std::exchange(found.columns, {});
        const Arcs arcs{list.view(), list.worth, columns.view(), columns.worth, columns.place, chosen};
        const bool at_once = simplex && flow.units() > many_units &&
                             carry_by_simplex(flow, list, chosen, simplex_looks * list.size(), effort);
        const Carried how = at_once ? Carried::all : carry_all(flow, arcs, most - effort.arcs, effort);
        for (i64 k = 0; k < list.size(); ++k) all.state[list.place[k]] = listed_bit | chosen[k];
        if (how != Carried::no_path) flow.read_prices(limit, prices);
        if (how == Carried::too_much_work) return false;
        if (how == Carried::all && failures(all, bounds, prices) == 0) return true;
        // Where there is no path, what lies next to the thresholds decides; after three times all elements do.
        double widened = -1.0;
        if (how == Carried::no_path) {
            widened = std::ldexp(1.0, 2 * static_cast<int>(effort.rounds));
            if (effort.rounds > 3) std::ranges::fill(found.windows.rows, inf);
        }
        const i64 joined = price_out(all, flow.phi, found.windows, widened, found.listed);
        if (how == Carried::all && joined == 0) return false;
        // Where many elements were missing, some threshold has gone much too far: from the beginning with them.
        if (how == Carried::all && joined > effort.units) {
            flow = before;
            for (i64 k = 0; k < list.size(); ++k) all.state[list.place[k]] = listed_bit | list.chosen[k];
        }
        list = gather(all, found.listed);
        choose_again(list, flow);
    }
    return false;
}

} // namespace optiframe::tvcs
