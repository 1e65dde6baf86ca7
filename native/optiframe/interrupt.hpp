// Ctrl-C in long kernels, which run without Python's lock: ask now and then.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

namespace optiframe::interrupt {

inline constexpr std::chrono::milliseconds every{50};

// Raises KeyboardInterrupt, or whatever a signal's handler raises, where a signal has come. Costs some
// 20 ns but every 50 ms, when it takes Python's lock for a moment; handlers run in the main thread only.
inline void poll() {
    using clock = std::chrono::steady_clock;
    thread_local clock::time_point last = clock::now();
    const auto now = clock::now();
    if (now - last < every) return;
    last = now;
    nanobind::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

} // namespace optiframe::interrupt
