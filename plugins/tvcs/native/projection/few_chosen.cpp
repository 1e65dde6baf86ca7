#include "few_chosen.hpp"

#include <algorithm>

#include "certify.hpp"
#include "first_prices.hpp"
#include "search.hpp"
#include "sweeps.hpp"

namespace optiframe::tvcs {

namespace {

constexpr double of_group = 4.0, of_many = 20.0; // chosen of each group of a view, and elements for each chosen one
constexpr double first_each = 8.0;               // elements of a group that are listed

} // namespace

bool are_few_chosen(i64 elements, i64 rows, i64 columns, double most_chosen) {
    return elements > most_for_steps && most_chosen < of_group * static_cast<double>(std::min(rows, columns)) &&
           most_chosen * of_many < static_cast<double>(elements);
}

bool solve_few_chosen(const Elements& all, const Bounds& bounds, double unit, double limit, Prices& prices,
                      Effort& effort) {
    const Columns columns = by_columns(all.view, all.whole, all.columns);
    prices = no_prices(all.view.groups(), all.columns);
    prices.y0 = exact_sweep(all.view, all.whole, bounds.rows, bounds.total, prices.w, prices.u);
    prices.y0 = exact_sweep(columns.view(), columns.worth, bounds.columns, bounds.total, prices.u, prices.w);
    round_to(unit, prices);
    Found found = nearest(all, bounds, first_each, prices);
    return certify(all, bounds, found, unit, work_for(all.whole.size()), limit, Carry::by_simplex, prices, effort);
}

} // namespace optiframe::tvcs
