#include "ids.hpp"

#include <optiframe/arrays.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

namespace optiframe::rankone {
namespace {

constexpr std::uint64_t crowded = 4; // numbers in the span of the values for each of them

// Values near each other: a table of all numbers of their span.
Encoded encode_crowded(std::span<const std::int64_t> values, std::int64_t least, std::uint64_t span) {
    Encoded found{room<std::int32_t>(values.size()), {}};
    std::vector<std::int32_t> place(span, -1);
    interrupt::in_blocks(static_cast<std::int64_t>(values.size()), [&](std::int64_t begin, std::int64_t end) {
        for (auto k = begin; k < end; ++k) {
            const auto above = static_cast<std::uint64_t>(read(values[k])) - static_cast<std::uint64_t>(least);
            if (above >= span) refuse_code();
            found.codes[k] = static_cast<std::int32_t>(above);
            place[above] = 0;
        }
    });
    found.ids.reserve(span);
    for (std::uint64_t k = 0; k < span; ++k)
        if (place[k] == 0) {
            place[k] = static_cast<std::int32_t>(found.ids.size());
            found.ids.push_back(least + static_cast<std::int64_t>(k));
        }
    if (found.ids.size() < span) // else no number is left out: nothing to look up
        interrupt::in_blocks(static_cast<std::int64_t>(values.size()), [&](std::int64_t begin, std::int64_t end) {
            for (auto k = begin; k < end; ++k) found.codes[k] = place[found.codes[k]];
        });
    return found;
}

// Codes by first appearance, which are then replaced by those in the order of the ids.
Encoded encode_scattered(std::span<const std::int64_t> values) {
    Encoded found{room<std::int32_t>(values.size()), {}};
    std::unordered_map<std::int64_t, std::int32_t> table;
    interrupt::Pace pace;
    for (std::size_t k = 0; k < values.size(); ++k) {
        pace.after(8);
        const auto value = read(values[k]);
        const auto [at, fresh] = table.try_emplace(value, static_cast<std::int32_t>(found.ids.size()));
        if (fresh) found.ids.push_back(value);
        found.codes[k] = at->second;
    }
    std::vector<std::int32_t> order(found.ids.size()), rank(found.ids.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        pace.after(1);
        return found.ids[a] < found.ids[b];
    });
    std::vector<std::int64_t> sorted(found.ids.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        sorted[k] = found.ids[order[k]];
        rank[order[k]] = static_cast<std::int32_t>(k);
    }
    found.ids = std::move(sorted);
    for (std::size_t k = 0; k < values.size(); ++k) found.codes[k] = rank[found.codes[k]];
    return found;
}

} // namespace

Encoded encode(std::span<const std::int64_t> values) {
    if (values.empty()) return {room<std::int32_t>(0), {}};
    auto least = values.front(), most = least;
    interrupt::in_blocks(static_cast<std::int64_t>(values.size()), [&](std::int64_t begin, std::int64_t end) {
        for (const auto value : values.subspan(begin, end - begin)) {
            least = std::min(least, value);
            most = std::max(most, value);
        }
    });
    const auto gap = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
    const auto room = std::min<std::uint64_t>(crowded * values.size(), std::numeric_limits<std::int32_t>::max());
    return gap < room ? encode_crowded(values, least, gap + 1) : encode_scattered(values);
}

} // namespace optiframe::rankone
