#include "ids.hpp"
#include "labels.hpp"
#include "pairs.hpp"
#include "posteriors.hpp"
#include "products.hpp"
#include "texts.hpp"

#include <optiframe/arrays.hpp>

#include <nanobind/stl/tuple.h>

#include <limits>
#include <tuple>

namespace {

using namespace optiframe;
using rankone::Coded;
using rankone::Labels;

using CodeArray = In<std::int32_t>;
using FirstArray = In<std::int64_t>;
using Numbers = In<double>;

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

// How many there are of something that codes stand for.
std::size_t size_of(std::int64_t count, const char* name) {
    if (count < 0 || count > most) throw std::invalid_argument(std::string(name) + " is not a number of codes");
    return static_cast<std::size_t>(count);
}

Labels labels_of(const FirstArray& first, const CodeArray& worker, const CodeArray& label, std::size_t workers,
                 std::int64_t classes) {
    check_firsts(span(first), static_cast<std::int64_t>(worker.size()), "first");
    check_length(label, worker.size(), "label");
    return {span(first), span(worker), span(label), workers, size_of(classes, "classes")};
}

auto encode(FirstArray values) {
    rankone::Encoded found;
    {
        nb::gil_scoped_release unlocked;
        found = rankone::encode(span(values));
    }
    return std::make_tuple(owned(std::move(found.codes), values.size()), owned(std::move(found.ids)));
}

auto encode_texts(FirstArray start, In<std::uint8_t> letters) {
    check_firsts(span(start), static_cast<std::int64_t>(letters.size()), "start");
    const rankone::Texts texts{span(start), span(letters)};
    rankone::EncodedTexts found;
    {
        nb::gil_scoped_release unlocked;
        found = rankone::encode_texts(texts);
    }
    return std::make_tuple(owned(std::move(found.codes), texts.size()), owned(std::move(found.first)));
}

auto sort_labels(CodeArray task, CodeArray worker, CodeArray label, std::int64_t tasks, std::int64_t workers) {
    check_length(worker, task.size(), "worker");
    check_length(label, task.size(), "label");
    const Coded by_task{span(task), size_of(tasks, "tasks")}, by_worker{span(worker), size_of(workers, "workers")};
    rankone::SortedLabels sorted;
    {
        nb::gil_scoped_release unlocked;
        sorted = rankone::sort_labels(by_task, by_worker, span(label));
    }
    const auto n = task.size();
    return std::make_tuple(owned(std::move(sorted.task), n), owned(std::move(sorted.worker), n),
                           owned(std::move(sorted.label), n));
}

auto count_codes(CodeArray codes, std::int64_t count) {
    std::vector<std::int64_t> found(size_of(count, "count"));
    {
        nb::gil_scoped_release unlocked;
        interrupt::in_blocks(static_cast<std::int64_t>(codes.size()), [&](std::int64_t begin, std::int64_t end) {
            for (auto k = begin; k < end; ++k) ++found[place(span(codes), k, found.size())];
        });
    }
    return owned(std::move(found));
}

auto vote(FirstArray first, CodeArray worker, CodeArray label, Numbers weight, std::int64_t classes) {
    const auto labels = labels_of(first, worker, label, weight.size(), classes);
    Room<double> scores;
    {
        nb::gil_scoped_release unlocked;
        scores = rankone::vote(labels, span(weight));
    }
    return owned(std::move(scores), labels.tasks(), labels.classes);
}

auto count_pairs(FirstArray first, CodeArray worker, CodeArray label, std::int64_t workers) {
    const auto labels = labels_of(first, worker, label, size_of(workers, "workers"), 0);
    rankone::PairCounts found;
    {
        nb::gil_scoped_release unlocked;
        found = rankone::count_pairs(rankone::SortedByWorker(labels));
    }
    const auto entries = static_cast<std::size_t>(found.start.back());
    return std::make_tuple(owned(std::move(found.start)), owned(std::move(found.column), entries),
                           owned(std::move(found.shared), entries), owned(std::move(found.agreed), entries));
}

auto count_table(FirstArray first, CodeArray worker, CodeArray label, std::int64_t workers, std::int64_t classes) {
    const auto size = size_of(workers, "workers");
    const auto labels = labels_of(first, worker, label, size, classes);
    check(classes >= 2, "classes must be at least 2");
    rankone::PairTable table;
    {
        nb::gil_scoped_release unlocked;
        table = rankone::count_table(labels);
    }
    return std::make_tuple(owned(std::move(table.shared), size, size),
                           owned(std::move(table.correlation), size, size));
}

double misses(CodeArray start, CodeArray column, Numbers known, Numbers target, Numbers x) {
    check_length(start, x.size() + 1, "start");
    check_firsts(span(start), static_cast<std::int64_t>(column.size()), "start");
    check_length(known, column.size(), "known");
    check_length(target, column.size(), "target");
    nb::gil_scoped_release unlocked;
    return rankone::misses({span(start), span(column), span(known), span(target)}, span(x));
}

double sweep(CodeArray start, CodeArray column, Numbers known, Numbers weighted, Out<double> x, Numbers lower,
             Numbers upper) {
    check_length(start, x.size() + 1, "start");
    check_firsts(span(start), static_cast<std::int64_t>(column.size()), "start");
    check_length(known, column.size(), "known");
    check_length(weighted, column.size(), "weighted");
    check_length(lower, x.size(), "lower");
    check_length(upper, x.size(), "upper");
    check_codes(span(column), static_cast<std::int64_t>(x.size()), "column"); // before any entry changes
    nb::gil_scoped_release unlocked;
    return rankone::sweep({span(start), span(column), span(known), span(weighted)}, span(x), {span(lower), span(upper)});
}

double sweep_dense(InRows<double> known, InRows<double> weighted, Out<double> x, Numbers lower, Numbers upper) {
    for (const auto& each : {known, weighted})
        check(each.shape(0) == x.size() && each.shape(1) == x.size(), "known and weighted must have a row and a column for each entry of x");
    check_length(lower, x.size(), "lower");
    check_length(upper, x.size(), "upper");
    nb::gil_scoped_release unlocked;
    return rankone::sweep_dense(known.data(), weighted.data(), span(x), {span(lower), span(upper)});
}

auto label_pulls(FirstArray first, CodeArray worker, CodeArray label, Numbers x, std::int64_t classes) {
    const auto labels = labels_of(first, worker, label, x.size(), classes);
    check(classes >= 2, "classes must be at least 2");
    std::vector<double> pull(x.size()), curvature(x.size());
    {
        nb::gil_scoped_release unlocked;
        rankone::label_pulls(labels, span(x), {pull, curvature});
    }
    return std::make_tuple(owned(std::move(pull)), owned(std::move(curvature)));
}

auto label_weights(FirstArray first, CodeArray worker, Numbers x) {
    const auto labels = labels_of(first, worker, worker, x.size(), 0); // no label is read
    std::vector<double> sums(x.size());
    {
        nb::gil_scoped_release unlocked;
        rankone::label_weights(labels, span(x), sums);
    }
    return owned(std::move(sums));
}

auto task_pulls(FirstArray first, CodeArray worker, CodeArray label, Numbers x, std::int64_t classes, Out<double> pull) {
    const auto labels = labels_of(first, worker, label, x.size(), classes);
    check(classes >= 2, "classes must be at least 2");
    if (pull.size() != 0) check_length(pull, worker.size(), "pull");
    std::vector<double> curvature(x.size()), total(x.size()), squares(x.size());
    {
        nb::gil_scoped_release unlocked;
        rankone::task_pulls(labels, span(x), span(pull), {curvature, total, squares});
    }
    return std::make_tuple(owned(std::move(curvature)), owned(std::move(total)), owned(std::move(squares)));
}

// Of workers x labels x classes.
template <class T> using Cube = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

auto count_classes(FirstArray first, CodeArray worker, CodeArray label, Numbers weight, InRows<double> posterior,
                   std::int64_t workers) {
    const auto size = size_of(workers, "workers"), classes = posterior.shape(1);
    const auto labels = labels_of(first, worker, label, size, static_cast<std::int64_t>(classes));
    if (weight.size() != 0) check_length(weight, label.size(), "weight");
    check_length(posterior, labels.tasks(), "posterior");
    Room<double> counts;
    {
        nb::gil_scoped_release unlocked;
        counts = rankone::count_classes(labels, span(weight), {posterior.data(), posterior.size()});
    }
    return owned(std::move(counts), size, classes, classes);
}

double pooled_posteriors(FirstArray first, CodeArray worker, CodeArray label, Numbers weight, In<std::uint8_t> known,
                         OutRows<double> posterior, Cube<const double> counts, std::tuple<double, double> abilities,
                         double strength, Numbers odds, InRows<double> errors, Numbers shares, bool without_own) {
    const auto size = counts.shape(0), classes = posterior.shape(1);
    const auto labels = labels_of(first, worker, label, size, static_cast<std::int64_t>(classes));
    if (weight.size() != 0) check_length(weight, label.size(), "weight");
    check_length(posterior, labels.tasks(), "posterior");
    check_length(known, labels.tasks(), "known");
    check_length(odds, classes, "odds");
    check(counts.shape(1) == classes && counts.shape(2) == classes, "counts must have as many labels as classes");
    check(errors.shape(0) == classes && errors.shape(1) == classes, "errors must be square, a row for each class");
    if (shares.size() != 0) check_length(shares, classes, "shares");
    // Before any posterior changes.
    check_codes(labels.worker, static_cast<std::int64_t>(labels.workers), "worker");
    check_codes(labels.label, static_cast<std::int64_t>(labels.classes), "label");
    const auto [right, wrong] = abilities;
    const rankone::Prior prior{right, right + wrong, strength, span(odds), {errors.data(), errors.size()},
                               span(shares), without_own};
    nb::gil_scoped_release unlocked;
    return rankone::pooled_posteriors(labels, span(weight), span(known), {counts.data(), counts.size()}, prior,
                                      {posterior.data(), posterior.size()});
}

} // namespace

NB_MODULE(_native, m) {
    m.def("encode", &encode, exact("values"));
    m.def("encode_texts", &encode_texts, exact("start"), exact("letters"));
    m.def("sort_labels", &sort_labels, exact("task"), exact("worker"), exact("label"), exact("tasks"),
          exact("workers"));
    m.def("count_codes", &count_codes, exact("codes"), exact("count"));
    m.def("vote", &vote, exact("first"), exact("worker"), exact("label"), exact("weight"), exact("classes"));
    m.def("count_pairs", &count_pairs, exact("first"), exact("worker"), exact("label"), exact("workers"));
    m.def("count_table", &count_table, exact("first"), exact("worker"), exact("label"), exact("workers"),
          exact("classes"));
    m.def("misses", &misses, exact("start"), exact("column"), exact("known"), exact("target"), exact("x"));
    m.def("sweep", &sweep, exact("start"), exact("column"), exact("known"), exact("weighted"), exact("x"),
          exact("lower"), exact("upper"));
    m.def("sweep_dense", &sweep_dense, exact("known"), exact("weighted"), exact("x"), exact("lower"), exact("upper"));
    m.def("label_pulls", &label_pulls, exact("first"), exact("worker"), exact("label"), exact("x"), exact("classes"));
    m.def("label_weights", &label_weights, exact("first"), exact("worker"), exact("x"));
    m.def("task_pulls", &task_pulls, exact("first"), exact("worker"), exact("label"), exact("x"), exact("classes"),
          exact("pull"));
    m.def("count_classes", &count_classes, exact("first"), exact("worker"), exact("label"), exact("weight"),
          exact("posterior"), exact("workers"));
    m.def("pooled_posteriors", &pooled_posteriors, exact("first"), exact("worker"), exact("label"), exact("weight"),
          exact("known"), exact("posterior"), exact("counts"), nb::arg("abilities"), nb::arg("strength"), exact("odds"),
          exact("errors"), exact("shares"), nb::arg("without_own"));
}
