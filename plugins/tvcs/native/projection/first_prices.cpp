#include "first_prices.hpp"

#include <numeric>

#include "smoothing.hpp"

namespace optiframe::tvcs {

double mean_of(std::span<const double> worth) {
    return std::reduce(worth.begin(), worth.end()) / static_cast<double>(worth.size());
}

void step_on_all(const Elements& all, std::span<const double> worth, const Columns& columns, const Bounds& bounds,
                 double ramp, std::span<const double> steps, Prices& prices) {
    const Side rows{all.view, worth, {}, {}, bounds.rows, {}, {}};
    const Side others{columns.view(), columns.worth, {}, {}, bounds.columns, {}, {}};
    anneal(rows, others, bounds.total, prices, ramp, steps);
}

void first_prices(const Elements& all, std::span<const double> worth, const Columns& columns, const Bounds& bounds,
                  std::span<const double> steps, Prices& prices) {
    prices.y0 = mean_of(all.whole);
    step_on_all(all, worth, columns, bounds, 2.0 * deviation(all.whole, prices.y0) + 2.0, steps, prices);
}

} // namespace optiframe::tvcs
