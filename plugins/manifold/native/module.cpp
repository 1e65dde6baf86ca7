// The doors for Python: every length is checked before a pass begins, and every code before it is used.
#include "passes.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>

namespace optiframe::manifold {
namespace {

template <class T> Matrix<const T> matrix(const InRows<T>& of) {
    return {of.data(), static_cast<i64>(of.shape(0)), static_cast<i64>(of.shape(1))};
}
template <class T> Matrix<T> matrix(const OutRows<T>& of) {
    return {of.data(), static_cast<i64>(of.shape(0)), static_cast<i64>(of.shape(1))};
}

// Comparisons of so many items in so many rows, and with them arrays of a number for each: all is checked but
// the items, which a pass checks as it reads them.
template <class... PerComparison>
Comparisons comparisons(i64 rows, i64 items, const In<i64>& pointer, const In<i32>& winner, const In<i32>& loser,
                        const PerComparison&... each) {
    check_length(pointer, rows + 1, "pointer");
    check_firsts(span(pointer), static_cast<i64>(winner.size()), "pointer");
    check_length(loser, winner.size(), "loser");
    (check_length(each, winner.size(), "an array with a number for each comparison"), ...);
    return {items, span(pointer), span(winner), span(loser)};
}

// For passes that change what they are given: nothing is changed where an item is wrong.
const Comparisons& with_right_items(const Comparisons& of) {
    check_codes(of.winner, of.items, "winner");
    check_codes(of.loser, of.items, "loser");
    return of;
}

void check_sums(const Factors& x, const FactorSums& to, i64 rank) {
    check(to.left.rows == x.left.rows && to.right.rows == x.right.rows && to.left.columns == rank &&
              to.right.columns == rank && x.left.columns == x.right.columns,
          "the factors and what is added to them differ in shape");
}

double log_loss_of(In<double> margin, double sigma, In<double> weight, Out<double> slope, Out<double> bend) {
    if (weight.size() > 0) check_length(weight, margin.size(), "weight");
    check_length(slope, margin.size(), "slope");
    check_length(bend, margin.size(), "bend");
    nb::gil_scoped_release unlocked;
    return log_loss(span(margin), sigma, span(weight), {span(slope), span(bend)});
}

void gather_of(InRows<double> x, In<i64> pointer, In<i32> winner, In<i32> loser, Out<double> out) {
    const auto block = matrix(x);
    const Comparisons of = comparisons(block.rows, block.columns, pointer, winner, loser, out);
    nb::gil_scoped_release unlocked;
    gather(block, of, out.data());
}

void spread_of(OutRows<double> into, In<i64> pointer, In<i32> winner, In<i32> loser, In<double> amount) {
    const auto block = matrix(into);
    const Comparisons of = with_right_items(comparisons(block.rows, block.columns, pointer, winner, loser, amount));
    nb::gil_scoped_release unlocked;
    spread(block, of, amount.data());
}

void margins_of(InRows<double> left, InRows<double> right, In<i64> pointer, In<i32> winner, In<i32> loser,
                Out<double> out) {
    const Factors x{matrix(left), matrix(right)};
    const Comparisons of = comparisons(x.left.rows, x.right.rows, pointer, winner, loser, out);
    check(x.left.columns == x.right.columns, "left and right differ in their columns");
    nb::gil_scoped_release unlocked;
    margins(x, of, out.data());
}

void pull_of(InRows<double> left, InRows<double> right, In<i64> pointer, In<i32> winner, In<i32> loser,
             In<double> amount, OutRows<double> to_left, OutRows<double> to_right) {
    const Factors x{matrix(left), matrix(right)};
    const FactorSums to{matrix(to_left), matrix(to_right)};
    const Comparisons of =
        with_right_items(comparisons(x.left.rows, x.right.rows, pointer, winner, loser, amount));
    check_sums(x, to, x.left.columns);
    nb::gil_scoped_release unlocked;
    pull(x, of, amount.data(), to);
}

void pull_along_of(InRows<double> left, InRows<double> right, In<i64> pointer, In<i32> winner, In<i32> loser,
                   In<double> slope, In<double> bend, OutRows<double> to_left, OutRows<double> to_right) {
    const Factors x{matrix(left), matrix(right)};
    const FactorSums to{matrix(to_left), matrix(to_right)};
    const Comparisons of =
        with_right_items(comparisons(x.left.rows, x.right.rows, pointer, winner, loser, slope, bend));
    check(x.left.columns % 2 == 0, "left has an odd number of columns");
    check_sums(x, to, x.left.columns / 2);
    nb::gil_scoped_release unlocked;
    pull_along(x, of, slope.data(), bend.data(), to);
}

double exp_sum_of(InRows<double> x, double shift) {
    nb::gil_scoped_release unlocked;
    return exp_sum(matrix(x), shift);
}

double exp_terms_of(OutRows<double> x, double shift) {
    nb::gil_scoped_release unlocked;
    return exp_terms(matrix(x), shift);
}

template <class T>
void bend_rows_of(OutRows<T> x, OutRows<T> d, std::tuple<double, double, double> exponents, In<i64> pointer,
                  In<i32> winner, In<i32> loser, In<T> slope, In<T> bend) {
    const auto entries = matrix(x), change = matrix(d);
    const Comparisons of =
        with_right_items(comparisons(entries.rows, entries.columns, pointer, winner, loser, slope, bend));
    check(entries.rows == change.rows && entries.columns == change.columns, "x and d differ in shape");
    const auto [shift, scale, growth] = exponents;
    nb::gil_scoped_release unlocked;
    bend_rows<T>(entries, change, {static_cast<T>(shift), static_cast<T>(scale), static_cast<T>(growth)}, of,
                 slope.data(), bend.data());
}

} // namespace
} // namespace optiframe::manifold

NB_MODULE(_native, m) {
    using namespace optiframe::manifold;
    using optiframe::exact;
    namespace nb = nanobind;
    m.def("log_loss", &log_loss_of, exact("margin"), nb::arg("sigma"), exact("weight"), exact("slope"), exact("bend"));
    m.def("gather", &gather_of, exact("x"), exact("pointer"), exact("winner"), exact("loser"), exact("out"));
    m.def("spread", &spread_of, exact("into"), exact("pointer"), exact("winner"), exact("loser"), exact("amount"));
    m.def("margins", &margins_of, exact("left"), exact("right"), exact("pointer"), exact("winner"), exact("loser"),
          exact("out"));
    m.def("pull", &pull_of, exact("left"), exact("right"), exact("pointer"), exact("winner"), exact("loser"),
          exact("amount"), exact("to_left"), exact("to_right"));
    m.def("pull_along", &pull_along_of, exact("left"), exact("right"), exact("pointer"), exact("winner"),
          exact("loser"), exact("slope"), exact("bend"), exact("to_left"), exact("to_right"));
    m.def("exp_sum", &exp_sum_of, exact("x"), nb::arg("shift"));
    m.def("exp_terms", &exp_terms_of, exact("x"), nb::arg("shift"));
    m.def("bend_rows", &bend_rows_of<double>, exact("x"), exact("d"), nb::arg("exponents"), exact("pointer"),
          exact("winner"), exact("loser"), exact("slope"), exact("bend"));
    m.def("bend_rows", &bend_rows_of<float>, exact("x"), exact("d"), nb::arg("exponents"), exact("pointer"),
          exact("winner"), exact("loser"), exact("slope"), exact("bend"));
}
