// Whole numbers as ids: their codes.
#pragma once

#include <optiframe/memory.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace optiframe::rankone {

struct Encoded {
    Room<std::int32_t> codes;      // place of each value among the ids
    std::vector<std::int64_t> ids; // every value once, rising
};

Encoded encode(std::span<const std::int64_t> values);

} // namespace optiframe::rankone
