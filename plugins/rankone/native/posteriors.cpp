#include "posteriors.hpp"

#include <optiframe/interrupt.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace optiframe::rankone {
namespace {

constexpr double least_chance = 1e-10;
constexpr std::int64_t before_scaling = 16; // factors of least_chance that a product holds: 1e-160

// Loops over so many classes; known to the compiler where they are few, which halves the time.
template <std::size_t Fixed> struct Classes {
    std::size_t count;
    std::size_t size() const { return Fixed ? Fixed : count; }
};

template <class Run> auto with_classes(std::size_t count, Run run) {
    switch (count) {
    case 2: return run(Classes<2>{count});
    case 3: return run(Classes<3>{count});
    case 4: return run(Classes<4>{count});
    case 5: return run(Classes<5>{count});
    default: return run(Classes<0>{count});
    }
}

// Calls take(k, chance) with the chance of one label under each class k, with `own` times the task's posterior
// so far taken out of the counts: (s m_kl + N_kl - q_k) / (s + N_k - q_k), m_kl being the prior's chance. It is
// the worker's ability r = A / B, at odds with the class: r e / (1 - r + r e) where the label is the class.
template <class K, class Take>
void chances(K classes, std::size_t worker, std::size_t label, double own, const Counts& counts, const Prior& prior,
             const double* posterior, Take take) {
    const std::size_t n = classes.size();
    const double *given = &counts.given[(worker * n + label) * n], *of_class = &counts.of_class[worker * n];
    const double* errors = &prior.errors[label * n];
    const double right = prior.right + counts.right[worker] - own * posterior[label];
    const double wrong = prior.labels + counts.all[worker] - own - right;
    for (std::size_t k = 0; k < n; ++k) {
        const double less = own * posterior[k], lifted = right * prior.odds[k], sum = wrong + lifted;
        const double chance = k == label ? lifted : wrong * errors[k];
        const double over = prior.strength * chance + (given[k] - less) * sum;
        take(k, std::max(over / ((prior.strength + of_class[k] - less) * sum), least_chance));
    }
}

// Chances of scores, in place.
void exponentials(double* score, std::size_t n) {
    const double most = *std::max_element(score, score + n);
    for (std::size_t k = 0; k < n; ++k) score[k] = std::exp(score[k] - most);
}

void scale(double* product, std::size_t n) {
    const double most = *std::max_element(product, product + n);
    for (std::size_t k = 0; k < n; ++k) product[k] /= most;
}

} // namespace

Counts::Counts(std::span<const double> given, std::size_t workers, std::size_t classes)
    : classes(classes), given(given), of_class(workers * classes), right(workers), all(workers) {
    for (std::size_t j = 0; j < workers; ++j)
        for (std::size_t l = 0; l < classes; ++l)
            for (std::size_t k = 0; k < classes; ++k) {
                const double count = given[(j * classes + l) * classes + k];
                of_class[j * classes + k] += count;
                all[j] += count;
                if (k == l) right[j] += count;
            }
}

Room<double> count_classes(const Labels& labels, Weights weight, std::span<const double> posterior) {
    auto counts = zeros<double>(labels.workers * labels.classes * labels.classes);
    with_classes(labels.classes, [&](auto classes) {
        const std::size_t n = classes.size();
        labels.each_task([&](std::size_t t, std::int64_t begin, std::int64_t end) {
            for (auto e = begin; e < end; ++e) {
                double* of_label = &counts[(labels.worker_of(e) * n + labels.label_of(e)) * n];
                const double times = weight.empty() ? 1.0 : weight[static_cast<std::size_t>(e)];
                for (std::size_t k = 0; k < n; ++k) of_label[k] += times * posterior[t * n + k];
            }
        });
    });
    return counts;
}

double pooled_posteriors(const Labels& labels, Weights weight, std::span<const std::uint8_t> known,
                         const Counts& counts, const Prior& prior, std::span<double> posterior) {
    const double own = prior.without_own ? 1.0 : 0.0;
    return with_classes(counts.classes, [&](auto classes) {
        const std::size_t n = classes.size();
        std::vector<double> product(n);
        double change = 0.0;
        labels.each_task([&](std::size_t t, std::int64_t begin, std::int64_t end) {
            if (known[t]) return;
            double* mine = &posterior[t * n];
            for (std::size_t k = 0; k < n; ++k)
                product[k] = prior.shares.empty() ? 1.0 : prior.shares[k] - own * mine[k] + 1.0;
            const auto label = [&](std::int64_t e, double times, auto take) {
                chances(classes, labels.worker_of(e), labels.label_of(e), times * own, counts, prior, mine, take);
            };
            if (weight.empty()) {
                for (auto e = begin; e < end; ++e) {
                    label(e, 1.0, [&](std::size_t k, double chance) { product[k] *= chance; });
                    if ((e - begin) % before_scaling == before_scaling - 1) scale(product.data(), n);
                }
            } else {
                for (std::size_t k = 0; k < n; ++k) product[k] = std::log(product[k]);
                for (auto e = begin; e < end; ++e) {
                    const double times = weight[static_cast<std::size_t>(e)];
                    label(e, times, [&](std::size_t k, double chance) { product[k] += times * std::log(chance); });
                }
                exponentials(product.data(), n);
            }
            double sum = 0.0;
            for (std::size_t k = 0; k < n; ++k) sum += product[k];
            for (std::size_t k = 0; k < n; ++k) {
                const double found = product[k] / sum;
                change = std::max(change, std::abs(found - mine[k]));
                mine[k] = found;
            }
        });
        return change;
    });
}

} // namespace optiframe::rankone
