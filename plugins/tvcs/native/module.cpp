#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <optional>
#include <string>

#include <optiframe/arrays.hpp>

#include "projection/project.hpp"

void add_splicing(nanobind::module_& m); // of splicing_module.cpp

namespace {

using namespace optiframe;
using tvcs::i32, tvcs::i64, tvcs::u8;

// The named tuples of kernels/answers.py, imported once, when the first is made.
struct Answers {
    nb::handle effort, report;
};
const Answers& answers() {
    static Answers found; // Python is locked here
    if (!found.report) {
        const nb::module_ module = nb::module_::import_("optiframe_tvcs.kernels.answers");
        const auto get = [&](const char* name) { return nb::object(module.attr(name)).release(); };
        found = {get("Effort"), get("Report")};
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

nb::object answer_of(const tvcs::Report& report) {
    const tvcs::Effort& of = report.effort;
    return make(answers().report, report.refused, report.unit,
                make(answers().effort, of.candidates, of.units, of.paths, of.arcs, of.rounds, of.open, of.levels,
                     of.fallback));
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

nb::object project(const tvcs::Layout& layout, In<double> values, bool squared, std::optional<In<double>> start,
                   int unit, bool forced, Out<double> prices, std::optional<Out<bool>> support,
                   std::optional<Out<double>> kept) {
    const std::size_t n = layout.elements();
    check_length(values, n, "values");
    if (start) check_length(*start, prices_of(layout), "start");
    check_length(prices, prices_of(layout), "prices");
    const tvcs::Into into{span(prices), given(support, n, "support"), given(kept, n, "kept")};
    const tvcs::Start from{start ? span(*start) : std::span<const double>(), std::clamp(unit, -100000, 100000)};
    tvcs::Report report;
    {
        nb::gil_scoped_release unlocked;
        report = tvcs::project(layout, span(values), squared, from, forced, into);
    }
    return answer_of(report);
}

// Numbers of a float64 array in one piece, of any shape. To ask for a buffer takes less time than nanobind's arrays do,
// which is much beside a small projection.
class Doubles {
public:
    Doubles(nb::handle array, bool written, std::size_t length, const char* name) {
        const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (written ? PyBUF_WRITABLE : 0);
        const bool given = PyObject_GetBuffer(array.ptr(), &view, flags) == 0;
        if (!given) PyErr_Clear();
        const bool doubles = given && view.format != nullptr && std::strcmp(view.format, "d") == 0;
        if (doubles && size() == length) return;
        const std::size_t found = doubles ? size() : 0;
        if (given) PyBuffer_Release(&view);
        if (doubles) refuse_length(found, length, name);
        throw nb::type_error((std::string(name) + " must be an array of float64 in one piece" +
                              (written ? " that may be written to" : "")).c_str());
    }
    Doubles(const Doubles&) = delete;
    ~Doubles() { PyBuffer_Release(&view); }

    std::span<double> span() const { return {static_cast<double*>(view.buf), size()}; }

private:
    std::size_t size() const { return static_cast<std::size_t>(view.len) / sizeof(double); }

    Py_buffer view;
};

bool keep(const tvcs::Layout& layout, nb::handle values, nb::handle kept) {
    const std::size_t n = layout.elements();
    const Doubles from(values, false, n, "values"), into(kept, true, n, "kept");
    nb::gil_scoped_release unlocked;
    std::vector<double> prices(prices_of(layout));
    return !tvcs::project(layout, from.span(), true, {{}, 0}, false, {prices, {}, into.span()}).refused;
}

} // namespace

NB_MODULE(_native, m) {
    nb::class_<tvcs::Layout>(m, "Layout")
        .def("__init__", &make_layout, exact("row"), exact("column"), exact("row_bounds"),
             exact("column_bounds"), nb::arg("total"));

    m.def("project", &project, nb::arg("layout"), exact("values"), nb::arg("squared"), exact("start").none(),
          nb::arg("unit"), nb::arg("forced"), exact("prices"), exact("support").none(), exact("kept").none());

    m.def("keep", &keep, nb::arg("layout"), nb::arg("values"), nb::arg("kept"));

    add_splicing(m);
}
