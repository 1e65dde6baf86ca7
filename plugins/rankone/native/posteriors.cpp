#include "posteriors.hpp"

#include <optiframe/dispatch.hpp>
#include <optiframe/interrupt.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace optiframe::rankone {
namespace {

constexpr double least_chance = 1e-10;
constexpr std::int64_t before_scaling = 16; // chances multiplied before they are divided: parts of 1e-11 to 1e18

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

// Numbers of so many classes, which loops take in whole vectors; what fills up the last pack is 0 in products.
template <std::size_t Width> struct alignas(Width * sizeof(double)) Pack {
    double of[Width];
};

// Rows of packs, with a number for each class.
template <std::size_t Width> class Rows {
public:
    Rows(std::size_t rows, std::size_t classes, double fill)
        : classes_(classes), packs_((classes + Width - 1) / Width), all_(rows * packs_) {
        for (auto& pack : all_) std::fill_n(pack.of, Width, fill);
    }
    Rows(std::span<const double> numbers, std::size_t classes) : Rows(numbers.size() / classes, classes, 0.0) {
        for (std::size_t k = 0; k < numbers.size(); ++k) at(k / classes, k % classes) = numbers[k];
    }

    std::size_t packs() const { return Width < 8 ? 1 : packs_; }
    double* pack(std::size_t row, std::size_t p) { return all_[row * packs() + p].of; }
    const double* pack(std::size_t row, std::size_t p) const { return all_[row * packs() + p].of; }
    double& at(std::size_t row, std::size_t k) { return pack(row, k / Width)[k % Width]; }
    double at(std::size_t row, std::size_t k) const { return pack(row, k / Width)[k % Width]; }
    double largest(std::size_t row) const {
        double found = at(row, 0);
        for (std::size_t k = 1; k < classes_; ++k) found = std::max(found, at(row, k));
        return found;
    }

private:
    std::size_t classes_, packs_;
    std::vector<Pack<Width>> all_;
};

// A step of EM: the chance of each label under each class k, at least least_chance, with `times` times the task's
// posterior so far taken out of the counts: (s m_kl + N_kl - q_k) / (s + N_k - q_k), m_kl being the prior's chance.
// It is the worker's ability r = A / B, at odds with the class: r e / (1 - r + r e) where the label is the class.
template <std::size_t Width> class Step {
public:
    Step(const Labels& labels, Weights weight, std::span<const double> counts, const Prior& prior)
        : labels_(labels), weight_(weight), n_(labels.classes), own_(prior.without_own ? 1.0 : 0.0),
          own_share_(prior.shares.empty() ? 0.0 : own_), strength_(prior.strength), shares_(1, n_, 0.0),
          odds_(prior.odds, n_), errors_(prior.errors, n_), hits_(n_, n_, 0.0), row_(numbered(labels)),
          chances_(1 + (row_.empty() ? labels.workers * n_ : std::ranges::max(row_)), n_, 0.0),
          of_class_(labels.workers, n_, prior.strength), right_(labels.workers, prior.right),
          all_(labels.workers, prior.labels), before_(1, n_, 0.0), product_(1, n_, 0.0) {
        for (std::size_t k = 0; k < n_; ++k) {
            shares_.at(0, k) = prior.shares.empty() ? 1.0 : prior.shares[k] + 1.0;
            errors_.at(k, k) = 0.0;
            hits_.at(k, k) = 1.0;
        }
        interrupt::Pace pace;
        for (std::size_t j = 0; j < labels.workers; ++j)
            for (std::size_t l = 0; l < n_; ++l) {
                if (!was_given(j, l)) continue;
                const double* count = &counts[(j * n_ + l) * n_];
                for (std::size_t k = 0; k < n_; ++k) {
                    chances_.at(row(j, l), k) = count[k];
                    of_class_.at(j, k) += count[k];
                    all_[j] += count[k];
                }
                right_[j] += count[l];
                pace.after(static_cast<std::int64_t>(n_));
            }
        if (prior.without_own) return;
        for (std::size_t j = 0; j < labels.workers; ++j)
            for (std::size_t l = 0; l < n_; ++l) {
                if (!was_given(j, l)) continue;
                for (std::size_t p = 0; p < chances_.packs(); ++p) {
                    const auto found = chance(j, l, p, 0.0);
                    std::copy_n(found.of, Width, chances_.pack(row(j, l), p));
                }
                pace.after(static_cast<std::int64_t>(n_));
            }
    }

    // New posteriors of a task in place of the former ones; their largest change.
    [[gnu::always_inline]] double judge(std::int64_t begin, std::int64_t end, double* posterior) {
        for (std::size_t k = 0; k < n_; ++k) before_.at(0, k) = posterior[k];
        for (std::size_t p = 0; p < product_.packs(); ++p) {
            const double *shares = shares_.pack(0, p), *before = before_.pack(0, p);
            double* product = product_.pack(0, p);
            for (std::size_t k = 0; k < Width; ++k) product[k] = shares[k] - own_share_ * before[k];
        }
        if (weight_.empty())
            for (auto e = begin; e < end; e += before_scaling) {
                if (e > begin) divide(product_.largest(0));
                multiply(e, std::min(end, e + before_scaling));
            }
        else
            add_logs(begin, end);
        double sum = 0.0, change = 0.0;
        for (std::size_t k = 0; k < n_; ++k) sum += product_.at(0, k);
        divide(sum);
        for (std::size_t k = 0; k < n_; ++k) {
            posterior[k] = product_.at(0, k);
            change = std::max(change, std::abs(posterior[k] - before_.at(0, k)));
        }
        return change;
    }

    // A code that another thread changed since it was checked is noted: an exception would not pass through the
    // functions below, which are chosen as the module is loaded.
    bool refused() const { return refused_; }

private:
    // From 1, the row of each label that each worker gave, and 0 for all others; of few classes every label has one.
    // With many classes most workers give few of them, and the others' rows would take most of the time.
    static std::vector<std::uint32_t> numbered(const Labels& labels) {
        if constexpr (Width < 8) return {};
        std::vector<std::uint32_t> row(labels.workers * labels.classes, 0);
        for (std::int64_t e = 0; e < std::ssize(labels.label); ++e)
            row[labels.worker_of(e) * labels.classes + labels.label_of(e)] = 1;
        std::uint32_t last = 0;
        for (auto& each : row)
            if (each != 0) each = ++last;
        return row;
    }
    [[gnu::always_inline]] std::size_t row(std::size_t worker, std::size_t label) const {
        const auto cell = worker * n_ + label;
        if constexpr (Width < 8)
            return cell;
        else
            return row_[cell];
    }
    bool was_given(std::size_t worker, std::size_t label) const { return Width < 8 || row(worker, label) != 0; }

    [[gnu::always_inline]] std::size_t worker_of(std::int64_t e) { return code(labels_.worker[e], labels_.workers); }
    [[gnu::always_inline]] std::size_t label_of(std::int64_t e) { return code(labels_.label[e], labels_.classes); }
    [[gnu::always_inline]] std::size_t code(const std::int32_t& place, std::size_t count) {
        const auto found = static_cast<std::uint32_t>(read(place));
        if (found < count) [[likely]]
            return found;
        refused_ = true;
        return 0;
    }

    // Multiplies by the chances of a label under the p-th pack of classes, as fractions: dividing takes longer than
    // all the rest, and the caller does it once.
    [[gnu::always_inline]] void multiply_fraction(std::size_t worker, std::size_t label, std::size_t p, double times,
                                                  double* __restrict overs, double* __restrict unders) const {
        const double *q = before_.pack(0, p), *odds = odds_.pack(0, p), *of_class = of_class_.pack(worker, p);
        const double *errors = errors_.pack(label, p), *hits = hits_.pack(label, p);
        const double* given = chances_.pack(row(worker, label), p);
        const double right = right_[worker] - times * before_.at(0, label), wrong = all_[worker] - times - right;
        const double strength = strength_;
#pragma GCC unroll 1
        for (std::size_t k = 0; k < Width; ++k) {
            const double less = times * q[k], lifted = right * odds[k], sum = wrong + lifted;
            const double over = strength * (wrong * errors[k] + lifted * hits[k]) + (given[k] - less) * sum;
            const double under = (of_class[k] - less) * sum, least = least_chance * under;
            overs[k] *= over < least ? least : over;
            unders[k] *= under;
        }
    }

    Pack<Width> chance(std::size_t worker, std::size_t label, std::size_t p, double times) const {
        Pack<Width> over, under;
        std::fill_n(over.of, Width, 1.0);
        std::fill_n(under.of, Width, 1.0);
        multiply_fraction(worker, label, p, times, over.of, under.of);
        for (std::size_t k = 0; k < Width; ++k) over.of[k] /= under.of[k];
        return over;
    }

    [[gnu::always_inline]] void multiply(std::int64_t begin, std::int64_t end) {
        for (std::size_t p = 0; p < product_.packs(); ++p) {
            Pack<Width> overs, unders; // of their own, so that they stay in registers
            std::copy_n(product_.pack(0, p), Width, overs.of);
            if (own_ > 0.0) {
                std::fill_n(unders.of, Width, 1.0);
                for (auto e = begin; e < end; ++e)
                    multiply_fraction(worker_of(e), label_of(e), p, 1.0, overs.of, unders.of);
                for (std::size_t k = 0; k < Width; ++k) overs.of[k] /= unders.of[k];
            } else {
                for (auto e = begin; e < end; ++e) {
                    const double* chance = chances_.pack(row(worker_of(e), label_of(e)), p);
                    for (std::size_t k = 0; k < Width; ++k) overs.of[k] *= chance[k];
                }
            }
            std::copy_n(overs.of, Width, product_.pack(0, p));
        }
    }

    void add_logs(std::int64_t begin, std::int64_t end) {
        for (std::size_t k = 0; k < n_; ++k) product_.at(0, k) = std::log(product_.at(0, k));
        for (auto e = begin; e < end; ++e) {
            const double times = weight_[static_cast<std::size_t>(e)];
            const auto worker = worker_of(e), label = label_of(e);
            for (std::size_t p = 0; p < product_.packs(); ++p) {
                Pack<Width> found;
                if (own_ > 0.0) found = chance(worker, label, p, times);
                const double* chance = own_ > 0.0 ? found.of : chances_.pack(row(worker, label), p);
                for (std::size_t k = 0; k < Width && p * Width + k < n_; ++k)
                    product_.pack(0, p)[k] += times * std::log(chance[k]);
            }
        }
        const double most = product_.largest(0);
        for (std::size_t k = 0; k < n_; ++k) product_.at(0, k) = std::exp(product_.at(0, k) - most);
    }

    [[gnu::always_inline]] void divide(double by) {
        for (std::size_t p = 0; p < product_.packs(); ++p)
            for (std::size_t k = 0; k < Width; ++k) product_.pack(0, p)[k] /= by;
    }

    const Labels& labels_;
    Weights weight_;
    std::size_t n_; // classes
    double own_, own_share_, strength_;
    Rows<Width> shares_, odds_;
    Rows<Width> errors_, hits_;       // of each label
    std::vector<std::uint32_t> row_;  // where a worker's label has its row of chances_
    Rows<Width> chances_;             // of each worker's labels; N_kl where labels' own parts are taken out
    Rows<Width> of_class_;            // s + N_k of each worker
    std::vector<double> right_, all_; // of each worker: A, and A + B
    Rows<Width> before_, product_;    // of one task
    bool refused_ = false;
};

OPTIFRAME_CLONES double judge(Step<2>& step, std::int64_t begin, std::int64_t end, double* posterior) {
    return step.judge(begin, end, posterior);
}
OPTIFRAME_CLONES double judge(Step<4>& step, std::int64_t begin, std::int64_t end, double* posterior) {
    return step.judge(begin, end, posterior);
}
OPTIFRAME_CLONES double judge(Step<8>& step, std::int64_t begin, std::int64_t end, double* posterior) {
    return step.judge(begin, end, posterior);
}

template <std::size_t Width>
double judge_all(const Labels& labels, std::span<const std::uint8_t> known, Step<Width> step, std::span<double> posterior) {
    double change = 0.0;
    labels.each_task([&](std::size_t t, std::int64_t begin, std::int64_t end) {
        if (known[t]) return;
        change = std::max(change, judge(step, begin, end, &posterior[t * labels.classes]));
        if (step.refused()) refuse_code();
    });
    return change;
}

} // namespace

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
                         std::span<const double> counts, const Prior& prior, std::span<double> posterior) {
    if (labels.classes == 0) return 0.0;
    if (labels.classes <= 2) return judge_all(labels, known, Step<2>(labels, weight, counts, prior), posterior);
    if (labels.classes <= 4) return judge_all(labels, known, Step<4>(labels, weight, counts, prior), posterior);
    return judge_all(labels, known, Step<8>(labels, weight, counts, prior), posterior);
}

} // namespace optiframe::rankone
