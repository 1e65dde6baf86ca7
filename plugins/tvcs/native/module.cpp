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
nb::object joined(i64 high, i64 low) {
    i64 whole;
    if (!__builtin_mul_overflow(high, i64{1} << 26, &whole) && !__builtin_add_overflow(whole, low, &whole))
        return nb::int_(whole);
    return (nb::int_(high) << nb::int_(26)) + nb::int_(low);
}

// The named tuples of kernels/answers.py, imported once, when the first is made.
struct Answers {
    nb::handle effort, proof, report;
};
const Answers& answers() {
    static Answers found; // Python is locked here
    if (!found.report) {
        const nb::module_ module = nb::module_::import_("optiframe_tvcs.kernels.answers");
        const auto get = [&](const char* name) { return nb::object(module.attr(name)).release(); };
        found = {get("Effort"), get("Proof"), get("Report")};
    }
    return found;
}

// Made as its `_make` does: a call of the class takes longer than a small projection.
template <class... Parts> nb::object make(nb::handle type, Parts... parts) {
    static const auto of_tuple = reinterpret_cast<newfunc>(PyType_GetSlot(&PyTuple_Type, Py_tp_new));
    const nb::tuple given = nb::make_tuple(nb::make_tuple(parts...));
    PyObject* found = of_tuple(reinterpret_cast<PyTypeObject*>(type.ptr()), given.ptr(), nullptr);
    if (found == nullptr) throw nb::python_error();
    return nb::steal(found);
}

nb::object answer_of(const tvcs::Proof& proof) {
    return make(answers().proof, proof.failures, joined(proof.worth_high, proof.worth_low),
                joined(proof.bound_high, proof.bound_low), proof.worst, proof.failure);
}

nb::object answer_of(const tvcs::Report& report) {
    const tvcs::Effort& of = report.effort;
    return make(answers().report, report.scale, report.positive, report.held,
                make(answers().effort, of.candidates, of.units, of.paths, of.arcs, of.rounds, of.fallback),
                answer_of(report.proof));
}

void make_layout(tvcs::Layout* self, In<i32> row, In<i32> column, In<i64> row_bounds, In<i64> column_bounds,
                 i64 total) {
    check_length(column, row.size(), "column");
    constexpr std::size_t most = (std::size_t{1} << 30) - 4; // codes of all nodes and elements are 32 bits
    check(row.size() < 2 * most && row_bounds.size() < most && column_bounds.size() < most,
          "more than 2^31 elements or 2^30 groups");
    nb::gil_scoped_release unlocked;
    new (self) tvcs::Layout(span(row), span(column), span(row_bounds), span(column_bounds), total);
}

std::size_t prices_of(const tvcs::Layout& layout) { return layout.rows() + layout.columns() - 1; }

template <class T>
std::span<T> given(const std::optional<Out<T>>& array, std::size_t length, const char* name) {
    if (!array) return {};
    check_length(*array, length, name);
    return span(*array);
}

nb::object project(const tvcs::Layout& layout, In<double> values, bool squared,
                     std::optional<In<double>> start, bool forced, Out<double> prices,
                     std::optional<Out<bool>> support, std::optional<Out<double>> kept) {
    const std::size_t n = layout.elements();
    check_length(values, n, "values");
    if (start) check_length(*start, prices_of(layout), "start");
    check_length(prices, prices_of(layout), "prices");
    const tvcs::Into into{span(prices), given(support, n, "support"), given(kept, n, "kept")};
    const auto from = start ? span(*start) : std::span<const double>();
    tvcs::Report report;
    {
        nb::gil_scoped_release unlocked;
        report = tvcs::project(layout, {span(values), squared}, from, forced, into);
    }
    return answer_of(report);
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
        tvcs::quantise(span(worths), false, {}, units, whole);
    }
    return {nb::cast(owned(std::move(whole))), units.scale};
}

void check_whole(std::span<const double> numbers, const char* what) {
    constexpr double most = 1125899906842624.0; // 2^50
    check(std::ranges::all_of(numbers, [](double x) { return 0 <= x && x <= most && x == std::floor(x); }),
          what);
}

nb::object verify(const tvcs::Layout& layout, In<double> whole, In<bool> support, In<double> prices) {
    const std::size_t n = layout.elements();
    check_length(whole, n, "whole");
    check_length(support, n, "support");
    check_length(prices, prices_of(layout), "prices");
    tvcs::Proof proof;
    {
        nb::gil_scoped_release unlocked;
        std::vector<double> by_rows(n), packed(span(prices).begin(), span(prices).end());
        std::vector<u8> state(n);
        const auto* chosen = reinterpret_cast<const u8*>(support.data()); // whose bits may be any
        for (std::size_t k = 0; k < n; ++k) {
            by_rows[k] = whole.data()[layout.place(k)];
            state[k] = chosen[layout.place(k)] != 0;
        }
        check_whole(by_rows, "whole must hold whole numbers from 0 to 2^50");
        check_whole(packed, "prices must be whole numbers from 0 to 2^50");
        const auto u = packed.begin() + 1, w = u + layout.rows() - 1;
        tvcs::Prices found{packed[0], {u, w}, {w, packed.end()}};
        found.u.push_back(0.0); // of the elements in no group
        found.w.push_back(0.0);
        proof = tvcs::verify({layout.view(), by_rows, state, layout.columns()}, layout.bounds(), found);
        if (proof.worst >= 0) proof.worst = layout.place(proof.worst);
    }
    return answer_of(proof);
}

} // namespace

NB_MODULE(_native, m) {
    nb::class_<tvcs::Layout>(m, "Layout")
        .def("__init__", &make_layout, exact("row"), exact("column"), exact("row_bounds"),
             exact("column_bounds"), nb::arg("total"));

    m.def("project", &project, nb::arg("layout"), exact("values"), nb::arg("squared"), exact("start").none(),
          nb::arg("forced"), exact("prices"), exact("support").none(), exact("kept").none());
    m.def("quantise", &quantise, exact("worths"));
    m.def("verify", &verify, nb::arg("layout"), exact("whole"), exact("support"), exact("prices"));
}
