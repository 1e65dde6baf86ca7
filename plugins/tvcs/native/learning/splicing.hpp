// Pursuits and exchanges over supports of a bounded size, as learning/best_subset/splicing.py, which says what is done
// and why.
#pragma once

#include <unordered_set>

#include "second_order.hpp"

namespace optiframe::tvcs::fits {

struct Found {
    Point x;
    double value;
};

class Splicing {
public:
    // Of `size` entries, and the last one besides where it is free.
    Splicing(const SmallTable& table, KnownRows known, std::size_t size, bool free, int pursuit, std::size_t width)
        : table(table), known(std::move(known)), size(size), free(free), pursuit(pursuit), width(width) {}

    // Makes `x`, of this value, a better fit, and returns its value: the same where none was found before so many
    // seconds were over, and nan where columns are so alike that a fit needs another method.
    double improved(std::span<double> x, double value, double seconds);

    std::size_t columns() const { return table.columns; }

private:
    friend class Search;

    SmallTable table;
    KnownRows known;
    std::size_t size;
    bool free;
    int pursuit;
    bool exchanging = false; // whether an exchange improved the fit last; it is then tried first
    std::size_t width;
    std::optional<SecondOrder> model;
    std::unordered_set<std::uint64_t> fitted; // wide supports; each is fitted once in a run
};

} // namespace optiframe::tvcs::fits
