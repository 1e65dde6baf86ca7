#include "ids.hpp"

#include "table.hpp"

#include <optiframe/arrays.hpp>
#include <optiframe/dispatch.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace optiframe::rankone {
namespace {

struct Range {
    std::int64_t least, most;
};

OPTIFRAME_CLONES Range range_of(const std::int64_t* values, std::int64_t count) {
    Range found{values[0], values[0]};
    for (std::int64_t k = 0; k < count; ++k) {
        found.least = std::min(found.least, values[k]);
        found.most = std::max(found.most, values[k]);
    }
    return found;
}

constexpr std::uint64_t crowded = 4; // numbers in the span of the values for each of them

// Values near each other: a table of all numbers of their span.
Encoded encode_crowded(std::span<const std::int64_t> values, std::int64_t least, std::uint64_t span) {
    Encoded found{room<std::int32_t>(values.size()), {}};
    const auto place = zeros<std::int32_t>(span); // 1 where there is one, then its code
    interrupt::in_blocks(static_cast<std::int64_t>(values.size()), [&](std::int64_t begin, std::int64_t end) {
        for (auto k = begin; k < end; ++k) {
            const auto above = static_cast<std::uint64_t>(read(values[k])) - static_cast<std::uint64_t>(least);
            if (above >= span) refuse_code();
            found.codes[k] = static_cast<std::int32_t>(above);
            place[above] = 1;
        }
    });
    found.ids.reserve(span);
    interrupt::in_blocks(static_cast<std::int64_t>(span), [&](std::int64_t begin, std::int64_t end) {
        for (auto k = begin; k < end; ++k) {
            if (place[k] == 0) continue;
            place[k] = static_cast<std::int32_t>(found.ids.size());
            found.ids.push_back(least + k);
        }
    });
    if (found.ids.size() < span) // else no number is left out: nothing to look up
        renumber(found.codes, values.size(), place.get());
    return found;
}

// Codes by first appearance, which are then replaced by those in the order of the ids.
Encoded encode_scattered(std::span<const std::int64_t> values) {
    struct Id {
        std::int64_t value;
        std::int32_t code;
    };
    Encoded found{room<std::int32_t>(values.size()), {}};
    Table table;
    std::vector<Id> ids;
    interrupt::Pace pace;
    for (std::size_t k = 0; k < values.size(); ++k) {
        pace.after(8);
        const auto value = read(values[k]);
        const auto [code, fresh] = table.code_of(static_cast<std::uint64_t>(value), [](std::int32_t) { return true; });
        found.codes[k] = code;
        if (fresh) ids.push_back({value, code});
    }
    std::sort(ids.begin(), ids.end(), [&](const Id& a, const Id& b) {
        pace.after(1);
        return a.value < b.value;
    });
    std::vector<std::int32_t> rank(ids.size());
    for (std::size_t k = 0; k < ids.size(); ++k) {
        found.ids.push_back(ids[k].value);
        rank[ids[k].code] = static_cast<std::int32_t>(k);
    }
    renumber(found.codes, values.size(), rank.data());
    return found;
}

} // namespace

Encoded encode(std::span<const std::int64_t> values) {
    if (values.empty()) return {room<std::int32_t>(0), {}};
    Range all{values.front(), values.front()};
    interrupt::in_blocks(static_cast<std::int64_t>(values.size()), [&](std::int64_t begin, std::int64_t end) {
        const auto found = range_of(values.data() + begin, end - begin);
        all.least = std::min(all.least, found.least);
        all.most = std::max(all.most, found.most);
    });
    const auto gap = static_cast<std::uint64_t>(all.most) - static_cast<std::uint64_t>(all.least);
    const auto room = std::min<std::uint64_t>(crowded * values.size(), std::numeric_limits<std::int32_t>::max());
    return gap < room ? encode_crowded(values, all.least, gap + 1) : encode_scattered(values);
}

} // namespace optiframe::rankone
