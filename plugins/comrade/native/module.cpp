#include "logistic.hpp"

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

} // namespace

NB_MODULE(_native, m) {
    m.def("logistic", &logistic, exact("predictions"), exact("target"), exact("slopes"), exact("roots"));
    m.def("scale", &scale, exact("block"), exact("roots"), exact("into"));
}
