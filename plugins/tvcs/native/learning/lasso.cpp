#include "lasso.hpp"

#include <algorithm>
#include <cmath>

#include <optiframe/interrupt.hpp>

namespace optiframe::tvcs::fits {

void lasso(const KnownRows& hessian, std::span<const double> right, std::span<const double> penalty,
           std::span<double> x, double close, int passes) {
    const std::size_t p = x.size();
    Numbers gradient(p, 0.0);
    for (std::size_t j = 0; j < p; ++j)
        if (x[j] != 0) add(x[j], hessian.of(j), gradient);
    add(-1.0, right.data(), gradient);
    Indices moving;
    for (int pass = 0; pass < passes; ++pass) {
        moving.clear();
        for (std::size_t j = 0; j < p; ++j)
            if ((x[j] != 0 || std::abs(gradient[j]) > penalty[j]) && hessian.of(j)[j] > 0)
                moving.push_back(static_cast<std::int32_t>(j));
        double longest = 0.0;
        interrupt::poll();
        for (const std::int32_t j : moving) {
            const double bend = hessian.of(j)[j], least = bend * x[j] - gradient[j];
            const double step = std::copysign(std::max(std::abs(least) - penalty[j], 0.0), least) / bend - x[j];
            if (step == 0) continue;
            x[j] += step;
            add(step, hessian.of(j), gradient);
            longest = std::max(longest, std::abs(step) * bend);
        }
        if (longest <= close) break;
    }
}

} // namespace optiframe::tvcs::fits
