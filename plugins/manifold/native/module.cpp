// The doors for Python: every length and every code is checked before a pass reads it.
#include "passes.hpp"

#include <nanobind/stl/tuple.h>

#include <optiframe/arrays.hpp>

#include <tuple>

namespace optiframe::manifold {
namespace {

namespace nb = nanobind;

// The comparisons of a block's rows, checked against its shape and against arrays of one number for each.
template <class... PerComparison>
Comparisons comparisons(std::size_t rows, std::size_t items, const In<i64>& pointer, const In<i32>& winner,
                        const In<i32>& loser, const PerComparison&... each) {
    check_length(pointer, rows + 1, "pointer");
    check_firsts(span(pointer), static_cast<i64>(winner.size()), "pointer");
    check_length(loser, winner.size(), "loser");
    check_codes(span(winner), static_cast<i64>(items), "winner");
    check_codes(span(loser), static_cast<i64>(items), "loser");
    (check_length(each, winner.size(), "an array with a number for each comparison"), ...);
    return {static_cast<i64>(rows), pointer.data(), winner.data(), loser.data()};
}

double log_loss_of(In<double> margin, double sigma, In<double> weight, Out<double> slope, Out<double> bend) {
    if (weight.size() > 0) check_length(weight, margin.size(), "weight");
    check_length(slope, margin.size(), "slope");
    check_length(bend, margin.size(), "bend");
    nb::gil_scoped_release unlocked;
    return log_loss(margin.data(), sigma, weight.size() > 0 ? weight.data() : nullptr, slope.data(), bend.data(),
                    static_cast<i64>(margin.size()));
}

void gather_of(InRows<double> x, In<i64> pointer, In<i32> winner, In<i32> loser, Out<double> out) {
    const Comparisons of = comparisons(x.shape(0), x.shape(1), pointer, winner, loser, out);
    nb::gil_scoped_release unlocked;
    gather(x.data(), static_cast<i64>(x.shape(1)), of, out.data());
}

void spread_of(OutRows<double> into, In<i64> pointer, In<i32> winner, In<i32> loser, In<double> amount) {
    const Comparisons of = comparisons(into.shape(0), into.shape(1), pointer, winner, loser, amount);
    nb::gil_scoped_release unlocked;
    spread(into.data(), static_cast<i64>(into.shape(1)), of, amount.data());
}

void margins_of(InRows<double> left, InRows<double> right, In<i64> pointer, In<i32> winner, In<i32> loser,
                Out<double> out) {
    const Comparisons of = comparisons(left.shape(0), right.shape(0), pointer, winner, loser, out);
    check(left.shape(1) == right.shape(1), "left and right differ in their columns");
    nb::gil_scoped_release unlocked;
    margins(left.data(), right.data(), static_cast<i64>(left.shape(1)), of, out.data());
}

void check_factors(const InRows<double>& left, const InRows<double>& right, const OutRows<double>& to_left,
                   const OutRows<double>& to_right, std::size_t rank) {
    check(to_left.shape(0) == left.shape(0) && to_right.shape(0) == right.shape(0) && to_left.shape(1) == rank &&
              to_right.shape(1) == rank && left.shape(1) == right.shape(1),
          "the factors and what is added to them differ in shape");
}

void pull_of(InRows<double> left, InRows<double> right, In<i64> pointer, In<i32> winner, In<i32> loser,
             In<double> amount, OutRows<double> to_left, OutRows<double> to_right) {
    const Comparisons of = comparisons(left.shape(0), right.shape(0), pointer, winner, loser, amount);
    check_factors(left, right, to_left, to_right, left.shape(1));
    nb::gil_scoped_release unlocked;
    pull(left.data(), right.data(), static_cast<i64>(left.shape(1)), of, amount.data(), to_left.data(), to_right.data());
}

void pull_along_of(InRows<double> left, InRows<double> right, In<i64> pointer, In<i32> winner, In<i32> loser,
                   In<double> slope, In<double> bend, OutRows<double> to_left, OutRows<double> to_right) {
    const Comparisons of = comparisons(left.shape(0), right.shape(0), pointer, winner, loser, slope, bend);
    check(left.shape(1) % 2 == 0, "left has an odd number of columns");
    check_factors(left, right, to_left, to_right, left.shape(1) / 2);
    nb::gil_scoped_release unlocked;
    pull_along(left.data(), right.data(), static_cast<i64>(left.shape(1) / 2), of, slope.data(), bend.data(),
               to_left.data(), to_right.data());
}

double exp_sum_of(InRows<double> x, double shift) {
    nb::gil_scoped_release unlocked;
    return exp_sum(x.data(), static_cast<i64>(x.shape(0)), static_cast<i64>(x.shape(1)), shift);
}

double exp_terms_of(OutRows<double> x, double shift) {
    nb::gil_scoped_release unlocked;
    return exp_terms(x.data(), static_cast<i64>(x.shape(0)), static_cast<i64>(x.shape(1)), shift);
}

template <class T>
void bend_rows_of(OutRows<T> x, OutRows<T> d, std::tuple<double, double, double> exponents, In<i64> pointer,
                  In<i32> winner, In<i32> loser, In<T> slope, In<T> bend) {
    const Comparisons of = comparisons(x.shape(0), x.shape(1), pointer, winner, loser, slope, bend);
    check(x.shape(0) == d.shape(0) && x.shape(1) == d.shape(1), "x and d differ in shape");
    const auto [shift, scale, growth] = exponents;
    nb::gil_scoped_release unlocked;
    bend_rows<T>(x.data(), d.data(), static_cast<i64>(x.shape(1)),
                 {static_cast<T>(shift), static_cast<T>(scale), static_cast<T>(growth)}, of, slope.data(), bend.data());
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
    m.def("margins", &margins_of, exact("left"), exact("right"), exact("pointer"), exact("winner"), exact("loser"), exact("out"));
    m.def("pull", &pull_of, exact("left"), exact("right"), exact("pointer"), exact("winner"), exact("loser"),
          exact("amount"), exact("to_left"), exact("to_right"));
    m.def("pull_along", &pull_along_of, exact("left"), exact("right"), exact("pointer"), exact("winner"), exact("loser"),
          exact("slope"), exact("bend"), exact("to_left"), exact("to_right"));
    m.def("exp_sum", &exp_sum_of, exact("x"), nb::arg("shift"));
    m.def("exp_terms", &exp_terms_of, exact("x"), nb::arg("shift"));
    m.def("bend_rows", &bend_rows_of<double>, exact("x"), exact("d"), nb::arg("exponents"), exact("pointer"),
          exact("winner"), exact("loser"), exact("slope"), exact("bend"));
    m.def("bend_rows", &bend_rows_of<float>, exact("x"), exact("d"), nb::arg("exponents"), exact("pointer"),
          exact("winner"), exact("loser"), exact("slope"), exact("bend"));
}
