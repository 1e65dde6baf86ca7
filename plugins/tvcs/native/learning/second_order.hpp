// The second-order model of a linear model's objective, as learning/best_subset/second_order.py; of least squares the
// objective.
#pragma once

#include "small_table.hpp"

namespace optiframe::tvcs::fits {

// Rows of the Hessian of least squares, all of them.
struct KnownRows {
    const double* table = nullptr;
    std::vector<std::int64_t> place; // of each column's row in the table

    const double* of(std::size_t column) const { return table + place[column] * place.size(); }
};

class SecondOrder {
public:
    SecondOrder(const SmallTable& table, const Point& x, const KnownRows& given);

    Numbers gradient(const Point& x);
    // The minimum over these entries; none where columns are alike, unless a rough one will do.
    std::optional<Point> minimum(const Indices& at, bool rough);
    // The model's value at such a minimum, and how wrong it may be.
    struct Guess {
        double value, doubt;
    };
    Guess guess(const Point& minimum) const;
    // The Hessian among these columns: its lower half, by columns.
    Numbers among(const Indices& at);
    Numbers diagonal() const;

    // An exchange of two entries, and the model's change by it.
    struct Swap {
        double change;
        std::int32_t in, out;
    };
    // From the model's minimum over its entries, whose slope is given, the so many best ones that lower it; the last
    // entry takes no part where it is free. None where columns are alike.
    std::optional<std::vector<Swap>> swaps(const Point& x, const Numbers& slope, bool free, std::size_t most);
    bool exact() const { return table.loss == Loss::least_squares; }

private:
    void need(const Indices& at);

    const SmallTable& table;
    Numbers bends, slope, right;
    std::vector<const double*> rows; // of the Hessian, null where not yet computed
    std::vector<Numbers> room;
    double base = 0.0, value = 0.0, level = 0.0;
};

} // namespace optiframe::tvcs::fits
