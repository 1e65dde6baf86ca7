// What Python calls: lengths are checked before a pass begins, and codes as it reads them. Rows by pair keep
// copies that nobody else can change.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <optiframe/arrays.hpp>

#include <tuple>

#include "bregman.hpp"
#include "crowd.hpp"
#include "merging.hpp"
#include "multigrid.hpp"
#include "rows.hpp"
#include "votes.hpp"

namespace optiframe::hodgerank::doors {
namespace {

Comparisons comparisons_of(i64 items, const In<i64>& left, const In<i64>& right, const In<double>& margin) {
    check(items >= 0 && items <= most_items, "items must be from 0 to 2^31 - 1");
    check(static_cast<i64>(margin.size()) <= most_rows, "there are more than 2^32 - 1 rows");
    check_length(left, margin.size(), "left");
    check_length(right, margin.size(), "right");
    return {span(left), span(right), span(margin)};
}

auto merge(i64 items, In<i64> left, In<i64> right, In<double> margin, std::optional<In<double>> weight) {
    const Comparisons rows = comparisons_of(items, left, right, margin);
    if (weight) check_length(*weight, margin.size(), "weight");
    Merged found;
    {
        nb::gil_scoped_release unlocked;
        found = hodgerank::merge(items, rows, weight ? span(*weight) : std::span<const double>{});
    }
    return std::tuple{owned(std::move(found.left)),
                      owned(std::move(found.right)),
                      owned(std::move(found.margin)),
                      owned(std::move(found.weight)),
                      owned(std::move(found.count)),
                      owned(std::move(found.inverse), margin.size()),
                      owned(std::move(found.flipped), margin.size())};
}

void make_rows(RowsByPair* self, i64 items, In<i64> left, In<i64> right, In<double> margin, In<double> weight) {
    const Comparisons rows = comparisons_of(items, left, right, margin);
    check_length(weight, margin.size(), "weight");
    nb::gil_scoped_release unlocked;
    new (self) RowsByPair(items, rows, span(weight));
}

double huber(const RowsByPair& rows, double level, In<double> scores, double anchor, Out<double> kept, Out<double> force) {
    check_length(scores, rows.items(), "scores");
    check_length(kept, rows.pairs(), "kept");
    check_length(force, rows.items(), "force");
    nb::gil_scoped_release unlocked;
    return rows.huber(level, span(scores), anchor, span(kept), span(force));
}

void degrees(const RowsByPair& rows, In<double> kept, Out<double> degree) {
    check_length(kept, rows.pairs(), "kept");
    check_length(degree, rows.items(), "degree");
    nb::gil_scoped_release unlocked;
    rows.degrees(span(kept), span(degree));
}

void laplacian_product(const RowsByPair& rows, In<double> kept, In<double> v, Out<double> product) {
    check_length(kept, rows.pairs(), "kept");
    check_length(v, rows.items(), "v");
    check_length(product, rows.items(), "product");
    nb::gil_scoped_release unlocked;
    rows.laplacian_product(span(kept), span(v), span(product));
}

i64 parts(const RowsByPair& rows, In<double> kept, double least) {
    check_length(kept, rows.pairs(), "kept");
    nb::gil_scoped_release unlocked;
    return rows.parts(span(kept), least);
}

double bregman_block(In<i64> left, In<i64> right, In<double> margin, In<double> weight, In<double> scores,
                     Out<double> dual, In<double> outliers, Out<double> after, double dt, double kappa,
                     Out<double> into) {
    check_length(left, margin.size(), "left");
    check_length(right, margin.size(), "right");
    check_length(weight, margin.size(), "weight");
    check_length(dual, margin.size(), "dual");
    check_length(outliers, margin.size(), "outliers");
    check_length(after, margin.size(), "after");
    check_length(into, scores.size(), "into");
    nb::gil_scoped_release unlocked;
    return hodgerank::bregman_block({span(left), span(right), span(margin)},
                                    {span(weight), span(dual), span(outliers), span(after)}, span(scores), dt, kappa,
                                    span(into));
}

WorkerVotes votes_of(const In<i64>& winner, const In<i64>& loser, const In<double>& weight, const In<i64>& first) {
    check_length(loser, winner.size(), "loser");
    check_length(weight, winner.size(), "weight");
    check_firsts(span(first), static_cast<i64>(winner.size()), "first");
    return {span(winner), span(loser), span(weight), span(first)};
}

template <class Rows> void check_rows(const Rows& rows, i64 length, const char* name) {
    check(static_cast<i64>(rows.shape(0)) == length && rows.shape(1) == shares, name);
}

void crowd_likelihoods(In<i64> winner, In<i64> loser, In<double> weight, In<i64> first, In<double> scores,
                       Out<double> chance, OutRows<double> log_likelihood) {
    const WorkerVotes votes = votes_of(winner, loser, weight, first);
    check_length(chance, winner.size(), "chance");
    check_rows(log_likelihood, votes.workers(), "log_likelihood is not of a row of 11 for each worker");
    nb::gil_scoped_release unlocked;
    hodgerank::crowd_likelihoods(votes, span(scores), chance.data(), log_likelihood.data());
}

void crowd_slopes(In<i64> winner, In<i64> loser, In<double> weight, In<i64> first, In<i64> pair, In<i64> group,
                  In<double> chance, InRows<double> belief, double least, OutRows<double> slope, Out<double> curve) {
    const WorkerVotes votes = votes_of(winner, loser, weight, first);
    check_length(pair, winner.size(), "pair");
    check_length(group, votes.workers(), "group");
    check_length(chance, winner.size(), "chance");
    check_rows(belief, votes.workers(), "belief is not of a row of 11 for each worker");
    nb::gil_scoped_release unlocked;
    hodgerank::crowd_slopes(votes, span(pair), span(group), chance.data(), belief.data(), least,
                            {slope.data(), slope.size()}, slope.shape(1), span(curve));
}

void crowd_doubt(In<i64> winner, In<i64> loser, In<double> weight, In<i64> first, In<double> chance,
                 InRows<double> belief, double least, OutRows<double> matrix) {
    const WorkerVotes votes = votes_of(winner, loser, weight, first);
    check_length(chance, winner.size(), "chance");
    check_rows(belief, votes.workers(), "belief is not of a row of 11 for each worker");
    check(matrix.shape(0) == matrix.shape(1), "matrix is not square");
    nb::gil_scoped_release unlocked;
    hodgerank::crowd_doubt(votes, chance.data(), belief.data(), least, matrix.data(), matrix.shape(0));
}

auto votes_by_worker(i64 workers, In<i64> worker, In<i64> left, In<i64> right, In<double> margin,
                     std::optional<In<double>> weight, In<i64> merged, In<i64> pair) {
    check(workers >= 0 && workers <= static_cast<i64>(worker.size()), "workers must be from 0 to the number of rows");
    const Comparisons rows = comparisons_of(0, left, right, margin);
    check_length(worker, margin.size(), "worker");
    check_length(merged, margin.size(), "merged");
    if (weight) check_length(*weight, margin.size(), "weight");
    ByWorker found;
    {
        nb::gil_scoped_release unlocked;
        found = hodgerank::votes_by_worker(workers, span(worker), rows, weight ? span(*weight) : std::span<const double>{},
                                           span(merged), span(pair));
    }
    const std::size_t votes = found.first.back();
    return std::tuple{owned(std::move(found.winner), votes), owned(std::move(found.loser), votes),
                      owned(std::move(found.weight), votes), owned(std::move(found.pair), votes),
                      owned(std::move(found.first)), owned(std::move(found.code))};
}

double bradley_terry_terms(In<i64> left, In<i64> right, In<double> won, In<double> lost, double extra, In<double> scores,
                           Out<double> slope, Out<double> curve) {
    check_length(right, left.size(), "right");
    check_length(won, left.size(), "won");
    check_length(lost, left.size(), "lost");
    check_length(slope, scores.size(), "slope");
    check_length(curve, left.size(), "curve");
    nb::gil_scoped_release unlocked;
    return hodgerank::bradley_terry_terms({span(left), span(right), span(won), span(lost)}, extra, span(scores),
                                          span(slope), span(curve));
}

void pairs_product(In<i64> left, In<i64> right, In<double> weight, In<double> v, Out<double> product) {
    check_length(right, left.size(), "right");
    check_length(weight, left.size(), "weight");
    check_length(product, v.size(), "product");
    nb::gil_scoped_release unlocked;
    hodgerank::laplacian_product(span(left), span(right), span(weight), span(v), span(product));
}

void sides_p(InRows<i64> trials, InRows<double> share, InRows<i64> seen, Out<double> p) {
    for (const auto& shape : {std::pair{trials.shape(0), trials.shape(1)}, std::pair{share.shape(0), share.shape(1)},
                              std::pair{seen.shape(0), seen.shape(1)}})
        check(shape == std::pair{p.shape(0), std::size_t{3}}, "trials, share and seen must have a row of 3 for each worker");
    nb::gil_scoped_release unlocked;
    hodgerank::sides_p({trials.data(), trials.size()}, {share.data(), share.size()}, {seen.data(), seen.size()}, span(p));
}

std::optional<Multigrid> multigrid(const RowsByPair& rows) {
    nb::gil_scoped_release unlocked;
    return Multigrid::of(rows);
}

auto smallest(const Multigrid& grid) {
    Sparse<double> edges = grid.smallest();
    return std::tuple{owned(std::move(edges.first)), owned(std::move(edges.column)), owned(std::move(edges.value))};
}

void cycle(const Multigrid& grid, In<float> b, InRows<float> inverse, Out<float> x) {
    const std::size_t smallest = grid.smallest().rows();
    check_length(b, grid.nodes(), "b");
    check_length(x, grid.nodes(), "x");
    check(inverse.shape(0) == smallest && inverse.shape(1) == smallest, "inverse is not of the smallest graph");
    nb::gil_scoped_release unlocked;
    grid.cycle(span(b), {inverse.data(), inverse.size()}, span(x));
}

// A vector of the rows, as an array that cannot be written to.
template <class T, auto get> auto locked(const RowsByPair& rows) {
    const std::span<const T> values = (rows.*get)();
    return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()}, nb::find(rows));
}

} // namespace
} // namespace optiframe::hodgerank::doors

NB_MODULE(_native, m) {
    using namespace optiframe;
    using namespace optiframe::hodgerank;
    nb::set_leak_warnings(false); // of graphs that are alive when Python ends
    m.def("merge", &doors::merge, nb::arg("items"), exact("left"), exact("right"), exact("margin"), exact("weight").none());
    m.def("bregman_block", &doors::bregman_block, exact("left"), exact("right"), exact("margin"), exact("weight"),
          exact("scores"), exact("dual"), exact("outliers"), exact("after"), nb::arg("dt"), nb::arg("kappa"),
          exact("into"));
    m.def("crowd_likelihoods", &doors::crowd_likelihoods, exact("winner"), exact("loser"), exact("weight"),
          exact("first"), exact("scores"), exact("chance"), exact("log_likelihood"));
    m.def("crowd_slopes", &doors::crowd_slopes, exact("winner"), exact("loser"), exact("weight"), exact("first"),
          exact("pair"), exact("group"), exact("chance"), exact("belief"), nb::arg("least"), exact("slope"),
          exact("curve"));
    m.def("crowd_doubt", &doors::crowd_doubt, exact("winner"), exact("loser"), exact("weight"), exact("first"),
          exact("chance"), exact("belief"), nb::arg("least"), exact("matrix"));
    m.def("votes_by_worker", &doors::votes_by_worker, nb::arg("workers"), exact("worker"), exact("left"), exact("right"),
          exact("margin"), exact("weight").none(), exact("merged"), exact("pair"));
    m.def("bradley_terry_terms", &doors::bradley_terry_terms, exact("left"), exact("right"), exact("won"), exact("lost"),
          nb::arg("extra"), exact("scores"), exact("slope"), exact("curve"));
    m.def("laplacian_product", &doors::pairs_product, exact("left"), exact("right"), exact("weight"), exact("v"),
          exact("product"));
    m.def("sides_p", &doors::sides_p, exact("trials"), exact("share"), exact("seen"), exact("p"));
    m.def("multigrid", &doors::multigrid, nb::arg("rows"));
    nb::class_<RowsByPair>(m, "RowsByPair")
        .def("__init__", &doors::make_rows, nb::arg("items"), exact("left"), exact("right"), exact("margin"), exact("weight"))
        .def_prop_ro("first_pair", &doors::locked<i64, &RowsByPair::first_pair>)
        .def_prop_ro("other", &doors::locked<i32, &RowsByPair::other>)
        .def_prop_ro("first_row", &doors::locked<i64, &RowsByPair::first_row>)
        .def_prop_ro("margin", &doors::locked<double, &RowsByPair::margin>)
        .def_prop_ro("weight", &doors::locked<double, &RowsByPair::weight>)
        .def_prop_ro("whole", &doors::locked<double, &RowsByPair::whole>)
        .def("huber", &doors::huber, nb::arg("level"), exact("scores"), nb::arg("anchor"), exact("kept"), exact("force"))
        .def("degrees", &doors::degrees, exact("kept"), exact("degree"))
        .def("laplacian_product", &doors::laplacian_product, exact("kept"), exact("v"), exact("product"))
        .def("parts", &doors::parts, exact("kept"), nb::arg("least"));
    nb::class_<Multigrid>(m, "Multigrid")
        .def("smallest", &doors::smallest)
        .def("cycle", &doors::cycle, exact("b"), exact("inverse"), exact("x"));
}
