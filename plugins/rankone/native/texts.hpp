// Texts as ids: their codes.
#pragma once

#include <optiframe/arrays.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace optiframe::rankone {

// Texts one after the other, as Arrow keeps them: text k is the letters (bytes of UTF-8) from start[k] on.
struct Texts {
    std::span<const std::int64_t> start;
    std::span<const std::uint8_t> letters;

    std::size_t size() const { return start.size() - 1; }
    std::string_view operator[](std::size_t k) const {
        const auto begin = read(start[k]), end = read(start[k + 1]);
        if (begin < 0 || end < begin || end > static_cast<std::int64_t>(letters.size())) refuse_code();
        return {reinterpret_cast<const char*>(letters.data()) + begin, static_cast<std::size_t>(end - begin)};
    }
};

struct EncodedTexts {
    Room<std::int32_t> codes;        // place of each text among the ids
    std::vector<std::int64_t> first; // where each id first appears; the ids rise, letter by letter
};

EncodedTexts encode_texts(const Texts& texts);

} // namespace optiframe::rankone
