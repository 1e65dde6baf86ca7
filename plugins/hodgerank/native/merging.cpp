#include "merging.hpp"

#include <optiframe/dispatch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace optiframe::hodgerank {
namespace {

constexpr i64 crowded = 4; // a table of all rows there can be is used up to so many times the rows,
constexpr i64 small_table = 1 << 16; // or of so many, which cost nothing

Merged room_for(i64 rows, i64 most) {
    Merged found;
    found.inverse = room<i64>(rows);
    found.flipped = room<bool>(rows);
    for (auto* each : {&found.left, &found.right, &found.count}) each->reserve(most);
    for (auto* each : {&found.margin, &found.weight}) each->reserve(most);
    return found;
}

void enter(Merged& found, i64 low, i64 high, double margin, i64 count, double weight) {
    found.left.push_back(low);
    found.right.push_back(high);
    found.margin.push_back(margin);
    found.count.push_back(count);
    found.weight.push_back(weight);
}

// Margins of -1, 0 and 1 by a table of all rows there can be: a pass to count them, one to number them.
Merged by_table(i64 items, const Comparisons& rows, std::span<const double> weight) {
    std::vector<u32> table(3 * items * items); // rows of each, then its number among those that there are
    Merged found = room_for(rows.rows(), std::min(rows.rows(), 3 * items * items));
    interrupt::in_blocks(rows.rows(), [&](i64 begin, i64 end) {
        for (i64 row = begin; row < end; ++row) {
            const i64 left = place(rows.left, row, items), right = place(rows.right, row, items);
            const i64 y = (rows.margin[row] > 0.0) - (rows.margin[row] < 0.0);
            // By bits, as a branch would be foreseen half of the time: all are set where the two change places.
            const i64 turn = -static_cast<i64>(left > right), change = (left ^ right) & turn;
            const i64 key = ((left ^ change) * items + (right ^ change)) * 3 + ((y ^ turn) - turn) + 1;
            found.flipped[row] = turn != 0;
            found.inverse[row] = key;
            ++table[key];
        }
    });
    interrupt::Pace pace;
    for (i64 low = 0; low < items; ++low) {
        pace.after(3 * (items - low));
        for (i64 high = low; high < items; ++high)
            for (i64 y = 0; y < 3; ++y) {
                u32& each = table[(low * items + high) * 3 + y];
                if (each == 0) continue;
                const i64 count = each;
                each = static_cast<u32>(found.count.size());
                enter(found, low, high, static_cast<double>(y - 1), count, weight.empty() ? static_cast<double>(count) : 0.0);
            }
    }
    interrupt::in_blocks(rows.rows(), [&](i64 begin, i64 end) {
        for (i64 row = begin; row < end; ++row) found.inverse[row] = table[found.inverse[row]];
        if (!weight.empty())
            for (i64 row = begin; row < end; ++row) found.weight[found.inverse[row]] += weight[row];
    });
    return found;
}

// A margin as a whole number in the same order; -0.0 is 0.0, and what is not a number has its place too.
i64 ordered(double y) {
    const i64 bits = std::bit_cast<i64>(y + 0.0);
    return bits < 0 ? bits ^ 0x7fffffffffffffff : bits;
}

double margin_of(i64 ordered) { return std::bit_cast<double>(ordered < 0 ? ordered ^ 0x7fffffffffffffff : ordered); }

// Any margins: rows sorted by pair, and within a pair by margin.
Merged by_sorting(i64 items, const Comparisons& rows, std::span<const double> weight) {
    Merged found = room_for(rows.rows(), rows.rows());
    const ByPair sorted = by_pair(items, rows.rows(), [&](i64 row) {
        const Pair pair = rows.pair(row, items);
        found.flipped[row] = pair.one > pair.other;
        return Pair{std::min(pair.one, pair.other), std::max(pair.one, pair.other)};
    });
    const Entry* const entries = sorted.entries.get();
    struct Row {
        i64 margin;
        u32 row;
        auto operator<=>(const Row&) const = default;
    };
    std::vector<Row> of_pair;
    interrupt::Pace pace;
    for (i64 low = 0; low < items; ++low)
        for (i64 begin = sorted.first[low], end; begin < sorted.first[low + 1]; begin = end) {
            const u32 high = entries[begin].item;
            of_pair.clear();
            for (end = begin; end < sorted.first[low + 1] && entries[end].item == high; ++end) {
                const u32 row = entries[end].row;
                of_pair.push_back({ordered(found.flipped[row] ? -rows.margin[row] : rows.margin[row]), row});
            }
            if (of_pair.size() > 1) std::ranges::sort(of_pair);
            for (std::size_t k = 0; k < of_pair.size(); ++k) {
                const auto [margin, row] = of_pair[k];
                if (k == 0 || margin != of_pair[k - 1].margin) enter(found, low, high, margin_of(margin), 0, 0.0);
                found.inverse[row] = static_cast<i64>(found.count.size()) - 1;
                ++found.count.back();
                found.weight.back() += weight.empty() ? 1.0 : weight[row];
            }
            pace.after(end - begin);
        }
    return found;
}

OPTIFRAME_CLONES bool are_signs(const double* margin, i64 rows) {
    i64 others = 0;
    for (i64 row = 0; row < rows; ++row) others |= -static_cast<i64>((margin[row] != 0.0) & (std::abs(margin[row]) != 1.0));
    return others == 0;
}

bool are_all_signs(std::span<const double> margin) {
    bool found = true;
    interrupt::in_blocks(static_cast<i64>(margin.size()),
                         [&](i64 begin, i64 end) { found &= are_signs(margin.data() + begin, end - begin); });
    return found;
}

} // namespace

Merged merge(i64 items, const Comparisons& rows, std::span<const double> weight) {
    const i64 room = std::max(crowded * rows.rows(), small_table);
    if (items <= room / (3 * std::max<i64>(items, 1)) && are_all_signs(rows.margin))
        return by_table(items, rows, weight);
    return by_sorting(items, rows, weight);
}

} // namespace optiframe::hodgerank
