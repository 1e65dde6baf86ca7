// Ctrl-C in long kernels, which run without Python's lock: ask now and then.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace optiframe::interrupt {

inline constexpr std::chrono::milliseconds every{50};

// Raises KeyboardInterrupt, or whatever a signal's handler raises, where a signal has come. Costs some
// 20 ns but every 50 ms, when it takes Python's lock for a moment, and says so; handlers run in the main
// thread only.
inline bool poll() {
    using clock = std::chrono::steady_clock;
    thread_local clock::time_point last = clock::now();
    const auto now = clock::now();
    if (now - last < every) return false;
    last = now;
    nanobind::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    return true;
}

// Polls once in so many small steps of a loop, of some nanoseconds each.
class Pace {
public:
    bool after(std::int64_t steps) {
        if ((left_ -= steps) > 0) return false;
        left_ = most;
        return poll();
    }

    // Runs a loop from begin to end, of so many steps each time, in blocks: one(begin, end).
    template <class Block> void in_blocks(std::int64_t begin, std::int64_t end, std::int64_t steps, Block one) {
        for (const std::int64_t size = std::max<std::int64_t>(1, most / steps); begin < end; begin += size) {
            const std::int64_t last = std::min(end, begin + size);
            one(begin, last);
            after(steps * (last - begin));
        }
    }

private:
    static constexpr std::int64_t most = 1 << 17;
    std::int64_t left_ = most;
};

// Runs a loop over whole numbers below n in blocks, each as one(begin, end), and polls between them.
template <class Block> void in_blocks(std::int64_t n, Block one) { Pace().in_blocks(0, n, 1, one); }

} // namespace optiframe::interrupt
