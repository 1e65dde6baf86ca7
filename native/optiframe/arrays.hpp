// Arrays as kernels take them from Python: their own type, in one piece, never converted or copied, and
// checked before a kernel reads them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dispatch.hpp"

namespace optiframe {

namespace nb = nanobind;

template <class T> using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using InRows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using OutRows = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// An argument of its own type only: nanobind would copy another, and a result be written to the copy.
inline auto exact(const char* name) { return nb::arg(name).noconvert(); }

inline void check(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

template <class Array> void check_length(const Array& array, std::size_t length, const char* name) {
    if (array.shape(0) != length)
        throw std::invalid_argument(std::string(name) + " has the length " + std::to_string(array.shape(0)) +
                                    ", not " + std::to_string(length));
}

// The largest of some codes, a negative one being a very large one.
OPTIFRAME_CLONES inline std::uint64_t largest_code(const std::int32_t* codes, std::size_t n) {
    std::uint32_t largest = 0;
    for (std::size_t k = 0; k < n; ++k) largest = std::max(largest, static_cast<std::uint32_t>(codes[k]));
    return largest;
}
OPTIFRAME_CLONES inline std::uint64_t largest_code(const std::int64_t* codes, std::size_t n) {
    std::uint64_t largest = 0;
    for (std::size_t k = 0; k < n; ++k) largest = std::max(largest, static_cast<std::uint64_t>(codes[k]));
    return largest;
}

// Codes from 0 to below count.
template <class T> void check_codes(std::span<T> codes, std::int64_t count, const char* name) {
    if (!codes.empty() && largest_code(codes.data(), codes.size()) >= static_cast<std::uint64_t>(count))
        throw std::invalid_argument(std::string(name) + " has codes that are not from 0 to " +
                                    std::to_string(count - 1));
}

// Whether numbers never fall.
OPTIFRAME_CLONES inline bool never_falls(const std::int32_t* values, std::size_t n) {
    int falls = 0;
    for (std::size_t k = 1; k < n; ++k) falls |= values[k] < values[k - 1];
    return falls == 0;
}
OPTIFRAME_CLONES inline bool never_falls(const std::int64_t* values, std::size_t n) {
    int falls = 0;
    for (std::size_t k = 1; k < n; ++k) falls |= values[k] < values[k - 1];
    return falls == 0;
}

// Where groups begin among so many entries: from 0 up to their number, never falling.
template <class T> void check_firsts(std::span<T> first, std::int64_t entries, const char* name) {
    if (first.empty() || first.front() != 0 || static_cast<std::int64_t>(first.back()) != entries ||
        !never_falls(first.data(), first.size()))
        throw std::invalid_argument(std::string(name) + " does not divide " + std::to_string(entries) +
                                    " entries");
}

template <class T, class... Rest> std::span<T> span(const nb::ndarray<T, Rest...>& array) {
    return {array.data(), array.size()};
}

// A vector as a NumPy array, not copied.
template <class T> auto owned(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

// Numbers that were allocated without being set, as a NumPy array.
template <class T> auto owned(std::unique_ptr<T[]>&& values, std::size_t length) {
    T* kept = values.release();
    nb::capsule owner(kept, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept, {length}, owner);
}

} // namespace optiframe
