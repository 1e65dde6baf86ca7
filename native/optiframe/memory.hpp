// Memory for many numbers, made ready in blocks with a look for Ctrl-C between.
#pragma once

#include "interrupt.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace optiframe {

// A copy of numbers, perhaps as another type, with room for so many at least.
template <class From, class T = From> std::vector<T> copied(std::span<const From> numbers, std::size_t capacity = 0) {
    std::vector<T> copy;
    copy.reserve(std::max(capacity, numbers.size()));
    interrupt::in_blocks(static_cast<std::int64_t>(numbers.size()), [&](std::int64_t begin, std::int64_t end) {
        copy.insert(copy.end(), numbers.begin() + begin, numbers.begin() + end);
    });
    return copy;
}

template <class T> std::vector<T> filled(std::size_t count, T number) {
    std::vector<T> found;
    found.reserve(count);
    interrupt::in_blocks(static_cast<std::int64_t>(count),
                         [&](std::int64_t, std::int64_t end) { found.resize(static_cast<std::size_t>(end), number); });
    return found;
}

template <class T> void push(std::vector<T>& to, T number) {
    if (to.size() == to.capacity()) [[unlikely]]
        to = copied<T>(to, std::max<std::size_t>(16, 2 * to.size()));
    to.push_back(number);
}

// Room for numbers, not set to anything.
struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
};
template <class T> using Room = std::unique_ptr<T[], Free>;

// Where it is large, in large pages, as NumPy asks for: handing out small ones can take longer than filling them.
template <class T> Room<T> room(std::size_t count) {
    constexpr std::size_t page = 1 << 21, large = 2 * page;
    if (count > std::numeric_limits<std::size_t>::max() / 4 / sizeof(T)) throw std::bad_alloc();
    const std::size_t bytes = count * sizeof(T);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (bytes >= large) {
        const std::size_t whole = (bytes + page - 1) / page * page;
        void* memory = std::aligned_alloc(page, whole);
        if (memory == nullptr) throw std::bad_alloc();
        madvise(memory, whole, MADV_HUGEPAGE); // a wish: nothing is lost where it is refused
        Room<T> found(static_cast<T*>(memory));
        // Asked for now, with a look for Ctrl-C between: a sort would ask for all of them within its first steps.
        interrupt::Pace().in_blocks(0, static_cast<std::int64_t>(whole / page), 1 << 16, [&](auto begin, auto end) {
            for (auto k = begin; k < end; ++k) static_cast<volatile char*>(memory)[k * page] = 0;
        });
        return found;
    }
#endif
    void* memory = std::malloc(bytes > 0 ? bytes : 1);
    if (memory == nullptr) throw std::bad_alloc();
    return Room<T>(static_cast<T*>(memory));
}

template <class T> Room<T> zeros(std::size_t count) {
    auto found = room<T>(count);
    interrupt::in_blocks(static_cast<std::int64_t>(count),
                         [&](std::int64_t begin, std::int64_t end) { std::fill(&found[begin], &found[end], T{}); });
    return found;
}

} // namespace optiframe
