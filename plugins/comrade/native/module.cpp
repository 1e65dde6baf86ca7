#include "logistic.hpp"
#include "sparse_gram.hpp"

#include <optiframe/arrays.hpp>

namespace {

using namespace optiframe;

double logistic(In<double> predictions, In<double> target, Out<double> slopes, Out<double> roots) {
    check_length(target, predictions.size(), "target");
    check_length(slopes, predictions.size(), "slopes");
    check_length(roots, predictions.size(), "roots");
    nb::gil_scoped_release unlocked;
    return comrade::logistic(span(predictions), span(target), {span(slopes), span(roots)});
}

void scale(InRows<double> block, In<double> roots, OutRows<float> into) {
    check_length(roots, block.shape(0), "roots");
    check_length(into, block.shape(0), "into");
    check(into.shape(1) == block.shape(1), "into must have as many columns as block");
    nb::gil_scoped_release unlocked;
    comrade::scale(block.data(), span(roots), into.data(), block.shape(1));
}

void sparse_gram(In<double> data, In<std::int32_t> indices, In<std::int32_t> indptr, In<double> weights,
                 OutRows<double> total) {
    check(total.shape(0) == total.shape(1), "total must be square");
    check_length(indptr, weights.shape(0) + 1, "indptr");
    check_length(indices, data.shape(0), "indices");
    nb::gil_scoped_release unlocked;
    comrade::sparse_gram({span(data), span(indices), span(indptr)}, span(weights), total.data(), total.shape(0));
}

} // namespace

NB_MODULE(_native, m) {
    m.def("logistic", &logistic, exact("predictions"), exact("target"), exact("slopes"), exact("roots"));
    m.def("sparse_gram", &sparse_gram, exact("data"), exact("indices"), exact("indptr"), exact("weights"),
          exact("total"));
    m.def("scale", &scale, exact("block"), exact("roots"), exact("into"));
}
