#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <tuple>

#include <optiframe/arrays.hpp>

#include "project.hpp"
#include "worths.hpp"

namespace {

using namespace optiframe;
using tvcs::i32, tvcs::i64, tvcs::u8;

// A number of 2^26 and a rest, as Python's own integer.
nb::object joined(i64 high, i64 low) { return (nb::int_(high) << nb::int_(26)) + nb::int_(low); }

void check_bounds(std::span<const i64> bounds) {
    check(std::ranges::all_of(bounds, [](i64 bound) { return bound >= 0; }), "a bound is negative");
}

// Groups from 0, -1 for none: as codes they are one more.
void check_groups(std::span<const i32> labels, std::size_t groups, const char* name) {
    std::uint32_t largest = 0;
    for (const i32 label : labels) largest = std::max(largest, static_cast<std::uint32_t>(label) + 1);
    if (largest > groups)
        throw std::invalid_argument(std::string(name) + " has groups that are not from -1 to " +
                                    std::to_string(static_cast<i64>(groups) - 1));
}

void make_layout(tvcs::Layout* self, In<i32> row, In<i32> column, In<i64> row_bounds, In<i64> column_bounds,
                 i64 total) {
    check_length(column, row.size(), "column");
    constexpr std::size_t most = (std::size_t{1} << 30) - 4; // codes of all nodes and elements are 32 bits
    check(row.size() < 2 * most && row_bounds.size() < most && column_bounds.size() < most,
          "more than 2^31 elements or 2^30 groups");
    nb::gil_scoped_release unlocked;
    check_groups(span(row), row_bounds.size(), "row");
    check_groups(span(column), column_bounds.size(), "column");
    check_bounds(span(row_bounds));
    check_bounds(span(column_bounds));
    check(total >= 0, "total is negative");
    new (self) tvcs::Layout(span(row), span(column), span(row_bounds), span(column_bounds), total);
}

std::size_t prices_of(const tvcs::Layout& layout) { return layout.rows() + layout.columns() - 1; }

template <class T>
std::span<T> given(const std::optional<Out<T>>& array, std::size_t length, const char* name) {
    if (!array) return {};
    check_length(*array, length, name);
    return span(*array);
}

tvcs::Report project(const tvcs::Layout& layout, In<double> values, bool squared,
                     std::optional<In<double>> start, bool forced, Out<double> prices,
                     std::optional<Out<bool>> support, std::optional<Out<double>> kept) {
    const std::size_t n = layout.elements();
    check_length(values, n, "values");
    if (start) check_length(*start, prices_of(layout), "start");
    check_length(prices, prices_of(layout), "prices");
    const tvcs::Into into{span(prices), given(support, n, "support"), given(kept, n, "kept")};
    const auto from = start ? span(*start) : std::span<const double>();
    nb::gil_scoped_release unlocked;
    return tvcs::project(layout, {span(values), squared}, from, forced, into);
}

std::tuple<nb::object, double> quantise(In<double> worths) {
    std::vector<double> whole;
    tvcs::Units units;
    {
        nb::gil_scoped_release unlocked;
        const double top = tvcs::largest_worth(span(worths), false);
        check(top >= 0.0, "worths must be finite");
        units = tvcs::units_for(top);
        whole.resize(worths.size());
        tvcs::quantise(span(worths), false, {}, units.scale, whole);
    }
    return {nb::cast(owned(std::move(whole))), units.scale};
}

void check_whole(std::span<const double> numbers, const char* what) {
    constexpr double most = 1125899906842624.0; // 2^50
    check(std::ranges::all_of(numbers, [](double x) { return 0 <= x && x <= most && x == std::floor(x); }),
          what);
}

tvcs::Proof verify(const tvcs::Layout& layout, In<double> whole, In<bool> support, In<double> prices) {
    const std::size_t n = layout.elements();
    check_length(whole, n, "whole");
    check_length(support, n, "support");
    check_length(prices, prices_of(layout), "prices");
    nb::gil_scoped_release unlocked;
    check_whole(span(whole), "whole must hold whole numbers from 0 to 2^50");
    check_whole(span(prices), "prices must be whole numbers from 0 to 2^50");
    std::vector<double> by_rows(n);
    std::vector<u8> state(n);
    for (std::size_t k = 0; k < n; ++k) {
        by_rows[k] = whole.data()[layout.place(k)];
        state[k] = support.data()[layout.place(k)];
    }
    const double* u = prices.data() + 1;
    const double* w = u + layout.rows() - 1;
    tvcs::Prices found{prices.data()[0], {u, w}, {w, prices.data() + prices.size()}};
    found.u.push_back(0.0); // of the elements in no group
    found.w.push_back(0.0);
    tvcs::Proof proof = tvcs::verify({layout.view(), by_rows, state, layout.columns()}, layout.bounds(), found);
    if (proof.worst >= 0) proof.worst = layout.place(proof.worst);
    return proof;
}

} // namespace

NB_MODULE(_native, m) {
    nb::class_<tvcs::Layout>(m, "Layout")
        .def("__init__", &make_layout, exact("row"), exact("column"), exact("row_bounds"),
             exact("column_bounds"), nb::arg("total"));

    nb::class_<tvcs::Proof>(m, "Proof")
        .def_ro("failures", &tvcs::Proof::failures)
        .def_prop_ro("worth",
                     [](const tvcs::Proof& proof) { return joined(proof.worth_high, proof.worth_low); })
        .def_prop_ro("bound",
                     [](const tvcs::Proof& proof) { return joined(proof.bound_high, proof.bound_low); })
        .def_ro("worst", &tvcs::Proof::worst)
        .def_ro("failure", &tvcs::Proof::failure);

    nb::class_<tvcs::Effort>(m, "Effort")
        .def_ro("candidates", &tvcs::Effort::candidates)
        .def_ro("units", &tvcs::Effort::units)
        .def_ro("paths", &tvcs::Effort::paths)
        .def_ro("arcs", &tvcs::Effort::arcs)
        .def_ro("rounds", &tvcs::Effort::rounds)
        .def_ro("fallback", &tvcs::Effort::fallback);

    nb::class_<tvcs::Report>(m, "Report")
        .def_ro("scale", &tvcs::Report::scale)
        .def_ro("positive", &tvcs::Report::positive)
        .def_ro("held", &tvcs::Report::held)
        .def_ro("effort", &tvcs::Report::effort)
        .def_ro("proof", &tvcs::Report::proof);

    m.def("project", &project, nb::arg("layout"), exact("values"), nb::arg("squared"), exact("start").none(),
          nb::arg("forced"), exact("prices"), exact("support").none(), exact("kept").none());
    m.def("quantise", &quantise, exact("worths"));
    m.def("verify", &verify, nb::arg("layout"), exact("whole"), exact("support"), exact("prices"));
}
