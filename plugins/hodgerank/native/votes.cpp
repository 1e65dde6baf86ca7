#include "votes.hpp"

#include <optiframe/dispatch.hpp>
#include <optiframe/vector_math.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace optiframe::hodgerank {
namespace {

constexpr i64 block = 512;     // pairs whose numbers stay in the first cache
constexpr double reach = 40.0; // standard deviations, and as many units, from the mean: what is beyond is nothing

// d to the loss, won to the slope, and the curvature of each pair.
OPTIFRAME_CLONES void terms(double* d, const double* won, const double* lost, double extra, double* slope, double* curve,
                            i64 pairs) {
    for (i64 e = 0; e < pairs; ++e) {
        const double wins = won[e] + 0.5 * extra, losses = lost[e] + 0.5 * extra, total = wins + losses;
        const double size = std::abs(d[e]), small = exp(-size);
        const double likely = 1.0 / (1.0 + small), unlikely = small * likely;
        const bool ahead = d[e] > 0.0;
        const double up = ahead ? likely : unlikely; // chance that left wins
        slope[e] = losses * up - wins * (ahead ? unlikely : likely);
        curve[e] = total * likely * unlikely;
        d[e] = total * log1p(small) + (ahead ? losses : wins) * size;
    }
}

// Chances of a binomial number within reach of its mean, from `first` on; they sum to 1.
struct Chances {
    i64 first;
    std::vector<double> of;
};

Chances binomial(i64 trials, double share) {
    const double mean = static_cast<double>(trials) * share;
    const double wide = reach * std::sqrt(mean * (1.0 - share)) + reach;
    const i64 first = std::max<i64>(0, static_cast<i64>(std::ceil(mean - wide)));
    const i64 last = std::min(trials, static_cast<i64>(std::floor(mean + wide)));
    const i64 mode = std::clamp(static_cast<i64>((static_cast<double>(trials) + 1.0) * share), first, last);
    Chances found{first, std::vector<double>(last - first + 1)};
    const double odds = share / (1.0 - share);
    double* const at = found.of.data() - first;
    double sum = at[mode] = 1.0;
    for (i64 k = mode; k < last; ++k)
        sum += at[k + 1] = at[k] * (static_cast<double>(trials - k) / static_cast<double>(k + 1) * odds);
    for (i64 k = mode; k > first; --k)
        sum += at[k - 1] = at[k] * (static_cast<double>(k) / static_cast<double>(trials - k + 1) / odds);
    for (double& each : found.of) each /= sum;
    return found;
}

Chances sum_of(const Chances& one, const Chances& other, interrupt::Pace& pace) {
    Chances found{one.first + other.first, std::vector<double>(one.of.size() + other.of.size() - 1)};
    for (std::size_t a = 0; a < one.of.size(); ++a) {
        for (std::size_t b = 0; b < other.of.size(); ++b) found.of[a + b] += one.of[a] * other.of[b];
        pace.after(static_cast<i64>(other.of.size()));
    }
    return found;
}

} // namespace

double bradley_terry_terms(const Tally& votes, double extra, std::span<const double> scores, std::span<double> slope,
                           std::span<double> curve) {
    std::ranges::fill(slope, 0.0);
    std::array<double, block> d, pull;
    double loss = 0.0;
    const i64 pairs = static_cast<i64>(votes.left.size());
    interrupt::Pace().in_blocks(0, pairs, 8, [&](i64 begin, i64 end) {
        for (i64 from = begin; from < end; from += block) {
            const i64 count = std::min(block, end - from);
            for (i64 e = 0; e < count; ++e)
                d[e] = scores[place(votes.left, from + e, scores.size())] - scores[place(votes.right, from + e, scores.size())];
            terms(d.data(), votes.won.data() + from, votes.lost.data() + from, extra, pull.data(), curve.data() + from, count);
            double part = 0.0;
            for (i64 e = 0; e < count; ++e) {
                part += d[e];
                slope[place(votes.left, from + e, scores.size())] += pull[e];
                slope[place(votes.right, from + e, scores.size())] -= pull[e];
            }
            loss += part;
        }
    });
    return loss;
}

void laplacian_product(std::span<const i64> left, std::span<const i64> right, std::span<const double> weight,
                       std::span<const double> v, std::span<double> product) {
    std::ranges::fill(product, 0.0);
    interrupt::in_blocks(static_cast<i64>(weight.size()), [&](i64 begin, i64 end) {
        for (i64 e = begin; e < end; ++e) {
            const std::size_t i = place(left, e, v.size()), j = place(right, e, v.size());
            const double flow = weight[e] * (v[i] - v[j]);
            product[i] += flow;
            product[j] -= flow;
        }
    });
}

void sides_p(std::span<const i64> trials, std::span<const double> share, std::span<const i64> seen, std::span<double> p) {
    interrupt::Pace pace;
    const i64 workers = static_cast<i64>(p.size());
    for (i64 w = 0; w < workers; ++w) {
        std::array<Chances, 3> kinds;
        i64 found = 0;
        for (i64 k = 0; k < 3; ++k) {
            const i64 many = read(trials[3 * w + k]);
            const double each = read(share[3 * w + k]);
            check(many >= 0 && many <= most_rows, "trials must be from 0 to 2^32 - 1");
            check(each > 0.0 && each < 1.0, "share must be above 0 and below 1");
            const i64 saw = read(seen[3 * w + k]);
            check(saw >= 0 && saw <= many, "seen must be from 0 to trials");
            kinds[k] = binomial(many, each);
            found += saw;
            pace.after(static_cast<i64>(kinds[k].of.size()));
        }
        std::ranges::sort(kinds, {}, [](const Chances& each) { return each.of.size(); });
        const Chances small = sum_of(kinds[0], kinds[1], pace);
        const Chances& large = kinds[2];
        // Tails of the third, so that a tail of the sum costs a product for each value of the other two.
        const i64 values = static_cast<i64>(large.of.size());
        std::vector<double> below(values + 1), above(values + 1);
        for (i64 k = 0; k < values; ++k) below[k + 1] = below[k] + large.of[k];
        for (i64 k = values; k > 0; --k) above[k - 1] = above[k] + large.of[k - 1];
        double fewer = 0.0, more = 0.0;
        for (std::size_t a = 0; a < small.of.size(); ++a) {
            const i64 rest = found - small.first - static_cast<i64>(a) - large.first; // the third's, from its first on
            fewer += small.of[a] * below[std::clamp<i64>(rest + 1, 0, values)];
            more += small.of[a] * above[std::clamp<i64>(rest, 0, values)];
        }
        p[w] = std::min(1.0, 2.0 * std::min(fewer, more));
    }
}

} // namespace optiframe::hodgerank
