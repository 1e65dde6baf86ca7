// Codes of keys, by first appearance.
#pragma once

#include <optiframe/memory.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace optiframe::rankone {

// An open table, at most half full. The one of the standard library takes six times as long for a hundred
// thousand keys, as it looks at each in another place.
class Table {
public:
    // The code of a key, and whether it is a new one, the next that is free. Things that share a key are told
    // apart by same(code).
    template <class Same> [[gnu::always_inline]] std::pair<std::int32_t, bool> code_of(std::uint64_t key, Same same) {
        auto at = place(key);
        for (; cells_[at].code >= 0; at = next(at))
            if (cells_[at].key == key && same(cells_[at].code)) return {cells_[at].code, false};
        return {add(at, key), true};
    }

private:
    struct Cell {
        std::uint64_t key;
        std::int32_t code; // below 0 where there is none
    };

    static Room<Cell> empty(int bits) {
        auto cells = room<Cell>(std::size_t{1} << bits);
        interrupt::in_blocks(std::int64_t{1} << bits, [&](std::int64_t begin, std::int64_t end) {
            for (auto k = begin; k < end; ++k) cells[k].code = -1;
        });
        return cells;
    }

    std::size_t next(std::size_t at) const { return (at + 1) & last_; }
    // Multiples of 2^64 over the golden ratio are far apart, which spreads keys that are near each other.
    std::size_t place(std::uint64_t key) const { return key * 0x9E3779B97F4A7C15u >> (64 - bits_); }

    [[gnu::noinline]] std::int32_t add(std::size_t at, std::uint64_t key) {
        const auto code = count_++;
        cells_[at] = {key, code};
        if (2 * static_cast<std::size_t>(count_) > last_) grow();
        return code;
    }

    void grow() {
        const auto before = std::exchange(cells_, empty(bits_ + 1));
        const auto cells = static_cast<std::int64_t>(last_ + 1);
        last_ = (std::size_t{1} << ++bits_) - 1;
        interrupt::Pace().in_blocks(0, cells, 8, [&](std::int64_t begin, std::int64_t end) {
            for (auto k = begin; k < end; ++k) {
                if (before[k].code < 0) continue;
                auto at = place(before[k].key);
                while (cells_[at].code >= 0) at = next(at);
                cells_[at] = before[k];
            }
        });
    }

    int bits_ = 10;
    std::size_t last_ = (std::size_t{1} << bits_) - 1; // cell
    std::int32_t count_ = 0;
    Room<Cell> cells_ = empty(bits_);
};

// Codes by first appearance become those of the ids in their order: `rank` is the new one of each.
inline void renumber(Room<std::int32_t>& codes, std::size_t count, const std::int32_t* rank) {
    interrupt::in_blocks(static_cast<std::int64_t>(count), [&](std::int64_t begin, std::int64_t end) {
        for (auto k = begin; k < end; ++k) codes[k] = rank[codes[k]];
    });
}

} // namespace optiframe::rankone
