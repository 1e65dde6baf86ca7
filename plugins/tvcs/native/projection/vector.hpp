// Vectors whose memory a thread keeps for its next projection.
#pragma once

#include <bit>
#include <cstddef>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace optiframe::tvcs {

// Free blocks of memory of one thread, of 16 kB to 1 MB, and 6.5 MB in all: lists by size, each block with the next one
// in its first bytes. The system takes back what is freed at the end of the heap, and to be given it again, page by
// page, takes up to two fifths of a projection of 100,000 elements.
class Blocks {
public:
#ifdef __SANITIZE_ADDRESS__ // which looks for use of memory that is free
    static constexpr bool keeps(std::size_t) { return false; }
#else
    static constexpr bool keeps(std::size_t bytes) { return smallest <= bytes && bytes <= largest; }
#endif

    static void* take(std::size_t bytes) {
        const std::size_t k = place(bytes);
        void* found = first[k];
        if (found == nullptr) return ::operator new(size(k));
        first[k] = *static_cast<void**>(found);
        held -= size(k);
        return found;
    }

    static void give(void* block, std::size_t bytes) noexcept {
        const std::size_t k = place(bytes);
        if (ended || held + size(k) > most) {
            ::operator delete(block);
            return;
        }
        thread_local const Ended at_the_end_of_the_thread;
        *static_cast<void**>(block) = first[k];
        first[k] = block;
        held += size(k);
    }

private:
    static constexpr std::size_t smallest = 1 << 14, largest = 1 << 20, most = 13 << 19;
    static constexpr std::size_t steps = 8; // sizes from one to its double
    static constexpr std::size_t sizes = 6 * steps + 1;

    // Nothing of these is destroyed: vectors may outlive what a thread destroys at its end.
    static inline thread_local constinit void* first[sizes] = {};
    static inline thread_local constinit std::size_t held = 0;
    static inline thread_local constinit bool ended = false;

    struct Ended {
        ~Ended() {
            ended = true;
            for (void*& each : first)
                while (each != nullptr) ::operator delete(std::exchange(each, *static_cast<void**>(each)));
        }
    };

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
};

template <class T> struct Keeping {
    using value_type = T;

    Keeping() = default;
    template <class Other> Keeping(const Keeping<Other>&) noexcept {}

    T* allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
        const std::size_t bytes = count * sizeof(T);
        return static_cast<T*>(Blocks::keeps(bytes) ? Blocks::take(bytes) : ::operator new(bytes));
    }
    void deallocate(T* block, std::size_t count) noexcept {
        const std::size_t bytes = count * sizeof(T);
        Blocks::keeps(bytes) ? Blocks::give(block, bytes) : ::operator delete(block);
    }

    friend bool operator==(const Keeping&, const Keeping&) { return true; }
};

template <class T> using Vector = std::vector<T, Keeping<T>>;

} // namespace optiframe::tvcs
