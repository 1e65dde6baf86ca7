// Vectors whose memory a thread keeps for its next projection.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace optiframe::tvcs {

// Free blocks of memory, of 16 kB to 1 MB, and 6.5 MB in all. The system takes back what is freed at the end of the
// heap, and to be given it again, page by page, takes up to two fifths of a projection of 100,000 elements.
class Blocks {
public:
    static bool keeps(std::size_t bytes) { return smallest <= bytes && bytes <= largest; }

    Blocks() = default;
    Blocks(const Blocks&) = delete;
    ~Blocks() {
        for (const auto& blocks : free_)
            for (void* each : blocks) ::operator delete(each);
    }

    void* take(std::size_t bytes) {
        auto& blocks = free_[place(bytes)];
        if (blocks.empty()) return ::operator new(size(place(bytes)));
        void* found = blocks.back();
        blocks.pop_back();
        held_ -= size(place(bytes));
        return found;
    }

    void give(void* block, std::size_t bytes) noexcept {
        const std::size_t whole = size(place(bytes));
        if (held_ + whole > most) {
            ::operator delete(block);
            return;
        }
        try {
            free_[place(bytes)].push_back(block);
            held_ += whole;
        } catch (const std::bad_alloc&) {
            ::operator delete(block);
        }
    }

private:
    static constexpr std::size_t smallest = 1 << 14, largest = 1 << 20, most = 13 << 19;
    static constexpr std::size_t steps = 8; // sizes from one to its double
    static constexpr std::size_t sizes = 6 * steps + 1;

    // Of the least size that is enough: smallest (1 + k / steps) 2^n.
    static std::size_t place(std::size_t bytes) {
        const std::size_t doublings = std::bit_width(bytes / smallest) - 1, base = smallest << doublings;
        const std::size_t step = base / steps;
        return doublings * steps + (bytes - base + step - 1) / step;
    }
    static std::size_t size(std::size_t place) {
        const std::size_t base = smallest << (place / steps);
        return base + place % steps * (base / steps);
    }

    std::array<std::vector<void*>, sizes> free_;
    std::size_t held_ = 0;
};

inline thread_local Blocks blocks;

template <class T> struct Keeping {
    using value_type = T;

    Keeping() = default;
    template <class Other> Keeping(const Keeping<Other>&) noexcept {}

    T* allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
        const std::size_t bytes = count * sizeof(T);
        return static_cast<T*>(Blocks::keeps(bytes) ? blocks.take(bytes) : ::operator new(bytes));
    }
    void deallocate(T* block, std::size_t count) noexcept {
        const std::size_t bytes = count * sizeof(T);
        Blocks::keeps(bytes) ? blocks.give(block, bytes) : ::operator delete(block);
    }

    friend bool operator==(const Keeping&, const Keeping&) { return true; }
};

template <class T> using Vector = std::vector<T, Keeping<T>>;

} // namespace optiframe::tvcs
