// Looks through whole arrays of codes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace optiframe {

// The largest of some codes, a negative one being a very large one.
std::uint64_t largest_code(const std::int32_t* codes, std::size_t n);
std::uint64_t largest_code(const std::int64_t* codes, std::size_t n);

// Whether numbers never fall.
bool never_falls(const std::int32_t* values, std::size_t n);
bool never_falls(const std::int64_t* values, std::size_t n);

} // namespace optiframe
