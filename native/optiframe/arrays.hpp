// Arrays as kernels take them from Python: their own type, in one piece, never converted or copied, and
// checked before a kernel reads them. Another thread may change them meanwhile: what a place in memory
// depends on is read once and checked where it is used, or copied before it is checked.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "interrupt.hpp"
#include "memory.hpp"
#include "scans.hpp"

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

[[noreturn]] inline void refuse_length(std::size_t given, std::size_t length, const char* name) {
    throw std::invalid_argument(std::string(name) + " has the length " + std::to_string(given) + ", not " +
                                std::to_string(length));
}

template <class Array> void check_length(const Array& array, std::size_t length, const char* name) {
    if (array.shape(0) != length) refuse_length(array.shape(0), length, name);
}

// Codes from 0 to below count.
template <class T> void check_codes(std::span<T> codes, std::int64_t count, const char* name) {
    interrupt::in_blocks(static_cast<std::int64_t>(codes.size()), [&](std::int64_t begin, std::int64_t end) {
        if (largest_code(codes.data() + begin, end - begin) >= static_cast<std::uint64_t>(count))
            throw std::invalid_argument(std::string(name) + " has codes that are not from 0 to " +
                                        std::to_string(count - 1));
    });
}

// A copy, which no other thread can change.
template <class T> std::vector<T> copy_codes(std::span<const T> codes, std::int64_t count, const char* name) {
    std::vector<T> copy = copied(codes);
    check_codes(std::span<T>(copy), count, name);
    return copy;
}
template <class T> void copy_codes(std::span<const T> codes, std::int64_t count, T* into, const char* name) {
    interrupt::in_blocks(static_cast<std::int64_t>(codes.size()), [&](std::int64_t begin, std::int64_t end) {
        std::copy(codes.begin() + begin, codes.begin() + end, into + begin);
        check_codes(std::span<T>(into + begin, into + end), count, name);
    });
}

// A number in an array, read from memory once: the compiler may not read it again after a check.
template <class T> [[gnu::always_inline]] inline T read(const T& number) {
    return *static_cast<const volatile T*>(&number);
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_code() {
    throw std::invalid_argument("a code is out of range, or another thread changed an array while it was read");
}

// The k-th of some codes, refused where it is not below count.
template <class T> [[gnu::always_inline]] inline std::size_t place(std::span<T> codes, std::int64_t k, std::size_t count) {
    const auto code = static_cast<std::make_unsigned_t<std::remove_const_t<T>>>(read(codes[k]));
    if (code >= count) [[unlikely]]
        refuse_code();
    return code;
}

// Where groups begin among so many entries: from 0 up to their number, never falling.
template <class T> void check_firsts(std::span<T> first, std::int64_t entries, const char* name) {
    bool rises = true;
    interrupt::in_blocks(static_cast<std::int64_t>(first.size()), [&](std::int64_t begin, std::int64_t end) {
        begin -= begin > 0; // each block with the last of the one before
        rises &= never_falls(first.data() + begin, end - begin);
    });
    if (first.empty() || first.front() != 0 || static_cast<std::int64_t>(first.back()) != entries || !rises)
        throw std::invalid_argument(std::string(name) + " does not divide " + std::to_string(entries) + " entries");
}

// Runs one(g, begin, end) for each group g of so many entries, where `first` was found to divide them.
template <class T, class Group> void each_group(std::span<T> first, std::int64_t entries, Group one) {
    std::int64_t begin = 0;
    for (std::size_t g = 0; g + 1 < first.size(); ++g) {
        const std::int64_t end = read(first[g + 1]);
        if (end < begin || end > entries) [[unlikely]]
            refuse_code();
        one(g, begin, end);
        begin = end;
    }
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

// Numbers in room for so many, as a NumPy array of so many dimensions.
template <class T, class... Sizes> auto owned(Room<T>&& values, Sizes... sizes) {
    T* kept = values.release();
    nb::capsule owner(kept, [](void* p) noexcept { std::free(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<sizeof...(sizes)>>(kept, {sizes...}, owner);
}

} // namespace optiframe
