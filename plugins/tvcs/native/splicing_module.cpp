#include <nanobind/stl/optional.h>

#include <optional>
#include <string>

#include <optiframe/arrays.hpp>

#include "learning/best_support.hpp"
#include "learning/lasso.hpp"
#include "learning/splicing.hpp"

namespace {

using namespace optiframe;
namespace fits = tvcs::fits;
using i64 = std::int64_t;

// A routine of SciPy's, whose capsule is named by its signature: `d` is a float64 there, and an int has 32 bits.
template <class Routine> Routine* of_scipy(const char* module, const char* name) {
    const nb::object capsule = nb::module_::import_(module).attr("__pyx_capi__")[name];
    const char* signature = PyCapsule_GetName(capsule.ptr());
    check(signature != nullptr && std::string(signature).find(", int *, ") != std::string::npos,
          "SciPy's routines take other arguments");
    return reinterpret_cast<Routine*>(PyCapsule_GetPointer(capsule.ptr(), signature));
}
const fits::Lapack& lapack() {
    using fits::Lapack;
    constexpr const char *blas = "scipy.linalg.cython_blas", *systems = "scipy.linalg.cython_lapack";
    // Python is locked but while a module is imported: a static that is made once would have another thread wait for
    // that with Python locked, and so for ever.
    static Lapack found;
    if (found.dgemm == nullptr)
        found = {of_scipy<Lapack::Dposv>(systems, "dposv"), of_scipy<Lapack::Dsyrk>(blas, "dsyrk"),
                 of_scipy<Lapack::Dgemm>(blas, "dgemm")};
    return found;
}

fits::KnownRows known_rows(const InRows<double>& table, const In<i64>& place, std::size_t columns) {
    check(table.shape(0) == columns && table.shape(1) == columns, "the table is not a square of x's length");
    check_length(place, columns, "place");
    return {table.data(), copy_codes(span(place), static_cast<i64>(columns), "place")};
}

fits::SmallTable small_table(const InRows<double>& matrix, bool turned, const In<double>& target,
                             const In<double>& weights, int loss, const In<double>& ridge) {
    const std::size_t rows = matrix.shape(turned), columns = matrix.shape(!turned);
    constexpr std::size_t most = std::size_t{1} << 30;
    check(rows > 0 && columns > 0 && rows < most && columns < most, "the matrix is empty or too large");
    check_length(target, rows, "target");
    check_length(weights, rows, "weights");
    check_length(ridge, columns, "ridge");
    check(loss >= 0 && loss < 3, "the loss must be 0, 1 or 2");
    return {matrix.data(), rows, columns, turned ? 1 : columns, turned ? rows : 1, target.data(),
            weights.data(), static_cast<fits::Loss>(loss), ridge.data(), lapack()};
}

bool newton(InRows<double> matrix, bool turned, In<double> target, In<double> weights, int loss, In<double> ridge,
            In<i64> at, Out<double> x, double accuracy, double least, std::optional<InRows<double>> hessian) {
    const fits::SmallTable samples = small_table(matrix, turned, target, weights, loss, ridge);
    const std::size_t k = at.size();
    check_length(x, k, "x");
    if (hessian) check(hessian->shape(0) == k && hessian->shape(1) == k, "the Hessian is not a square of x's length");
    const std::vector<i64> codes = copy_codes(span(at), static_cast<i64>(samples.columns), "at");
    const fits::Point start{{codes.begin(), codes.end()}, fits::Numbers(x.data(), x.data() + k)};
    const std::size_t given = hessian ? k * k : 0;
    const double* first = hessian ? hessian->data() : nullptr;
    const auto found = samples.fit(start, accuracy, least, fits::Numbers(first, first + given));
    if (found) std::copy(found->values.begin(), found->values.end(), x.data());
    return found.has_value();
}

// Keeps the arrays that the search reads.
struct SmallSplicing {
    InRows<double> matrix;
    In<double> target, weights, ridge;
    std::optional<InRows<double>> table;
    std::optional<In<i64>> place;
    fits::Splicing run;
    bool searching = false;
};

void make_splicing(SmallSplicing* self, InRows<double> matrix, bool turned, In<double> target, In<double> weights,
                   int loss, In<double> ridge, std::optional<InRows<double>> table, std::optional<In<i64>> place,
                   i64 size, bool free, int pursuit, i64 width) {
    const fits::SmallTable samples = small_table(matrix, turned, target, weights, loss, ridge);
    check(size >= 0 && width >= 0, "the size and the width must be at least 0");
    fits::KnownRows known;
    if (loss == 0) {
        check(table && place, "least squares need their table");
        known = known_rows(*table, *place, samples.columns);
    }
    new (self) SmallSplicing{matrix, target, weights, ridge, table, place,
                             fits::Splicing(samples, std::move(known), static_cast<std::size_t>(size), free, pursuit,
                                            static_cast<std::size_t>(width))};
}

double improved(SmallSplicing& self, Out<double> x, double value, double seconds) {
    check_length(x, self.run.columns(), "x");
    check(!self.searching, "one search at a time"); // asked by another thread, or by what serves a signal
    struct Searching {
        bool& it;
        explicit Searching(bool& it) : it(it) { it = true; }
        ~Searching() { it = false; }
    } searching(self.searching);
    nb::gil_scoped_release unlocked;
    return self.run.improved(span(x), value, seconds);
}

void lasso(InRows<double> table, In<i64> place, In<double> right, In<double> penalty, Out<double> x, double close,
           int passes) {
    const std::size_t columns = x.shape(0);
    const fits::KnownRows known = known_rows(table, place, columns);
    check_length(right, columns, "right");
    check_length(penalty, columns, "penalty");
    nb::gil_scoped_release unlocked;
    fits::lasso(known, span(right), span(penalty), span(x), close, passes);
}

bool best_support(InRows<double> table, In<i64> place, In<double> right, i64 size, bool free, InRows<i64> labels,
                  In<i64> room, double gain, i64 products, i64 others, Out<bool> chosen, nb::callable time_left) {
    const std::size_t columns = right.shape(0);
    const fits::KnownRows known = known_rows(table, place, columns);
    check(free ? columns > 0 : true, "there is no entry that could be free");
    check(size >= 0, "the size must be at least 0");
    check(labels.shape(0) == 2 && labels.shape(1) == columns, "there is not one label for each column and view");
    check_length(chosen, columns, "chosen");
    const std::span<const i64> codes(labels.data(), 2 * columns);
    fits::GroupBounds groups{copy_codes(codes, static_cast<i64>(room.size()), "labels"), copied(span(room))};
    const std::size_t most = std::min(static_cast<std::size_t>(size), columns - free);
    const fits::Lapack& routines = lapack();
    const auto out_of_time = [&] {
        nb::gil_scoped_acquire locked;
        return nb::cast<double>(time_left()) <= 0;
    };
    nb::gil_scoped_release unlocked;
    fits::Indices among;
    for (std::size_t j = 0; j < columns; ++j)
        if (others < 0 ? j + free < columns : chosen.data()[j] || (free && j + 1 == columns))
            among.push_back(static_cast<std::int32_t>(j));
    if (others >= 0)
        among = fits::near_support(known, span(right), among, free, routines, static_cast<std::size_t>(others));
    const auto found =
        fits::best_support(known, span(right), among, most, free, std::move(groups), gain, products, out_of_time);
    std::fill(chosen.data(), chosen.data() + columns, false);
    for (const std::int32_t j : found.at) chosen.data()[j] = true;
    return found.all;
}

} // namespace

void add_splicing(nb::module_& m) {
    nb::class_<SmallSplicing>(m, "SmallSplicing")
        .def("__init__", &make_splicing, exact("matrix"), nb::arg("turned"), exact("target"), exact("weights"),
             nb::arg("loss"), exact("ridge"), exact("table").none(), exact("place").none(), nb::arg("size"),
             nb::arg("free"), nb::arg("pursuit"), nb::arg("width"))
        .def("improved", &improved, exact("x"), nb::arg("value"), nb::arg("seconds"));

    m.def("newton", &newton, exact("matrix"), nb::arg("turned"), exact("target"), exact("weights"), nb::arg("loss"),
          exact("ridge"), exact("at"), exact("x"), nb::arg("accuracy"), nb::arg("least"), exact("hessian").none());

    m.def("lasso", &lasso, exact("table"), exact("place"), exact("right"), exact("penalty"), exact("x"),
          nb::arg("close"), nb::arg("passes"));

    m.def("best_support", &best_support, exact("table"), exact("place"), exact("right"), nb::arg("size"),
          nb::arg("free"), exact("labels"), exact("room"), nb::arg("gain"), nb::arg("products"), nb::arg("others"),
          exact("chosen"), nb::arg("time_left"));
}
