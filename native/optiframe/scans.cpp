// Not in a header: Clang defines what chooses among the copies of a function in every file that has them, and the
// files then do not link.
#include "scans.hpp"

#include <algorithm>

#include "dispatch.hpp"

namespace optiframe {

OPTIFRAME_CLONES std::uint64_t largest_code(const std::int32_t* codes, std::size_t n) {
    std::uint32_t largest = 0;
    for (std::size_t k = 0; k < n; ++k) largest = std::max(largest, static_cast<std::uint32_t>(codes[k]));
    return largest;
}

OPTIFRAME_CLONES std::uint64_t largest_code(const std::int64_t* codes, std::size_t n) {
    std::uint64_t largest = 0;
    for (std::size_t k = 0; k < n; ++k) largest = std::max(largest, static_cast<std::uint64_t>(codes[k]));
    return largest;
}

OPTIFRAME_CLONES bool never_falls(const std::int32_t* values, std::size_t n) {
    int falls = 0;
    for (std::size_t k = 1; k < n; ++k) falls |= values[k] < values[k - 1];
    return falls == 0;
}

OPTIFRAME_CLONES bool never_falls(const std::int64_t* values, std::size_t n) {
    int falls = 0;
    for (std::size_t k = 1; k < n; ++k) falls |= values[k] < values[k - 1];
    return falls == 0;
}

} // namespace optiframe
