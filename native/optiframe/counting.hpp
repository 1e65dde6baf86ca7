// What counting sorts begin with.
#pragma once

#include "interrupt.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace optiframe {

// Where the entries of each code begin once they are sorted by it, and their number; codes are below count.
template <class Code> std::vector<std::int64_t> begins(std::span<Code> codes, std::size_t count) {
    std::vector<std::int64_t> first(count + 1);
    interrupt::in_blocks(static_cast<std::int64_t>(codes.size()), [&](std::int64_t begin, std::int64_t end) {
        for (auto k = begin; k < end; ++k) ++first[codes[k] + 1];
    });
    std::partial_sum(first.begin(), first.end(), first.begin());
    return first;
}

} // namespace optiframe
