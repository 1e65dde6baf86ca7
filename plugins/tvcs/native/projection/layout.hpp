// The elements of a set as a projection reads them: what does not change from one point to the next.
#pragma once

#include <algorithm>

#include "instance.hpp"

namespace optiframe::tvcs {

// Some of the elements row by row, each standing for so many, for first prices.
struct Sample {
    Vector<i64> first;
    Vector<i32> column, place;
    Vector<double> copies;
    Columns across; // its elements column by column, without their worths

    View view() const { return {first, column}; }
};

class Layout {
public:
    // Groups of each element in the two views are numbered from 0; -1 is none. The elements of none form one
    // more group, the last, with a bound that forbids nothing. Refuses wrong groups and bounds below 0.
    Layout(std::span<const i32> row, std::span<const i32> column, std::span<const i64> row_bounds,
           std::span<const i64> column_bounds, i64 total);

    View view() const { return {first, column, runs}; }
    Bounds bounds() const { return {row_bounds, column_bounds, total}; }
    i64 elements() const { return static_cast<i64>(column.size()); }
    i64 rows() const { return static_cast<i64>(row_bounds.size()); }
    i64 columns() const { return static_cast<i64>(column_bounds.size()); }

    // Number of the k-th element by rows among the elements as they were given.
    i64 place(i64 k) const { return order.empty() ? k : order[k]; }

    Vector<i32> order, rank; // of the elements by rows, and where each is among them; empty: they came so
    Vector<i64> first; // of each row
    Vector<i32> column;
    bool runs = true; // the columns of each row follow one another
    Vector<i64> row_bounds, column_bounds; // none above the number of elements and one
    i64 total;
    Vector<double> row_length, column_length;
    bool total_binds;            // the groups may hold more than it allows
    double most_chosen;          // elements, by the bounds
    double tightest;             // share of its elements that the tightest bound above 0 allows
    bool assignment = false;     // a full matrix with bounds of 1 that `assign` takes little more room for
    Vector<Sample> samples; // the coarser first; empty where a sample would save nothing

private:
    bool is_assignment() const;
    Sample sample(double each) const;
};

} // namespace optiframe::tvcs
