// Rows of a comparison graph sorted by their pair of items.
#pragma once

#include <optiframe/arrays.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace optiframe::hodgerank {

using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

inline constexpr i64 most_items = 0x7fffffff, most_rows = 0xffffffff; // what an Entry has room for

struct Pair {
    u32 one, other;

    u64 key() const { return static_cast<u64>(one) << 32 | other; }
};

struct Entry {
    u32 item, row;
};

// Entries first[i] to first[i + 1] are of pairs of item i: sorted by the other item of the pair, `item`,
// and rows of one pair in their order.
struct ByPair {
    std::vector<i64> first;
    Room<Entry> entries;
};

// Rows sorted by pair_of(row), a pair of items below `items`. Two passes of counting, by the second item
// and then by the first, which leaves equal ones in their order; one pass where they come sorted. Pairs are
// asked for once and kept, as another thread may change what they are made of.
template <class PairOf> ByPair by_pair(i64 items, i64 rows, PairOf pair_of) {
    std::vector<i64> first(items + 1), second(items + 1);
    auto entries = room<Entry>(rows); // the pairs at first
    bool sorted = true;
    u64 before = 0;
    interrupt::in_blocks(rows, [&](i64 begin, i64 end) {
        for (i64 row = begin; row < end; ++row) {
            const Pair pair = pair_of(row);
            entries[row] = {pair.one, pair.other};
            ++first[pair.one + 1];
            ++second[pair.other + 1];
            sorted &= before <= pair.key();
            before = pair.key();
        }
    });
    std::partial_sum(first.begin(), first.end(), first.begin());
    if (sorted) {
        interrupt::in_blocks(rows, [&](i64 begin, i64 end) {
            for (i64 row = begin; row < end; ++row) entries[row] = {entries[row].row, static_cast<u32>(row)};
        });
        return {std::move(first), std::move(entries)};
    }
    std::partial_sum(second.begin(), second.end(), second.begin());
    const auto by_second = room<Entry>(rows);
    std::vector<i64> at(second.begin(), second.end() - 1);
    interrupt::in_blocks(rows, [&](i64 begin, i64 end) {
        for (i64 row = begin; row < end; ++row) {
            const auto [one, other] = entries[row];
            by_second[at[other]++] = {one, static_cast<u32>(row)};
        }
    });
    at.assign(first.begin(), first.end() - 1);
    interrupt::Pace pace;
    for (i64 other = 0; other < items; ++other) {
        for (i64 k = second[other]; k < second[other + 1]; ++k)
            entries[at[by_second[k].item]++] = {static_cast<u32>(other), by_second[k].row};
        pace.after(second[other + 1] - second[other] + 1);
    }
    return {std::move(first), std::move(entries)};
}

} // namespace optiframe::hodgerank
