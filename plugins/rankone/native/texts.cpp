#include "texts.hpp"

#include <optiframe/interrupt.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

namespace optiframe::rankone {
namespace {

constexpr std::size_t brief = 7; // letters that fit into a key

// Up to eight letters of a text as a number, the first letter highest, in the order of the texts.
std::uint64_t prefix(std::string_view text) {
    std::uint64_t word = 0;
    for (std::size_t k = 0; k < 8; ++k) word = word << 8 | (k < text.size() ? static_cast<std::uint8_t>(text[k]) : 0);
    return word;
}

// A number for a text: of a brief one its own, else one that others may share.
std::uint64_t key_of(std::string_view text) {
    if (text.size() <= brief) return prefix(text) | text.size();
    return std::hash<std::string_view>{}(text) | 0xff;
}

// Ids by first appearance, found by their keys: an open table, at most half full. The one of the standard library
// takes six times as long for a hundred thousand ids, as it looks at each text in another place. It keeps the
// letters of the ids, as another thread may change those that were given while ids are sorted by them.
class Table {
public:
    std::int32_t code_of(std::size_t row, std::string_view text) {
        const auto key = key_of(text);
        for (auto at = place(key);; at = (at + 1) & (cells_.size() - 1)) {
            auto& cell = cells_[at];
            if (cell.code < 0) {
                const auto code = static_cast<std::int32_t>(first.size());
                cell = {key, code};
                first.push_back(static_cast<std::int64_t>(row));
                letters_.insert(letters_.end(), text.begin(), text.end());
                end_.push_back(letters_.size());
                if (2 * first.size() > cells_.size()) grow();
                return code;
            }
            if (cell.key == key && (text.size() <= brief || id(cell.code) == text)) return cell.code;
        }
    }

    std::string_view id(std::int32_t code) const { return {letters_.data() + end_[code], end_[code + 1] - end_[code]}; }

    std::vector<std::int64_t> first; // row of each id

private:
    struct Cell {
        std::uint64_t key = 0;
        std::int32_t code = -1;
    };

    // Multiples of 2^64 over the golden ratio are far apart, which spreads keys that are near each other.
    std::size_t place(std::uint64_t key) const { return key * 0x9E3779B97F4A7C15u >> (64 - bits_); }

    void grow() {
        std::vector<Cell> before(std::size_t{1} << ++bits_);
        before.swap(cells_);
        for (const auto& cell : before) {
            if (cell.code < 0) continue;
            auto at = place(cell.key);
            while (cells_[at].code >= 0) at = (at + 1) & (cells_.size() - 1);
            cells_[at] = cell;
        }
    }

    int bits_ = 10;
    std::vector<Cell> cells_ = std::vector<Cell>(std::size_t{1} << bits_);
    std::vector<char> letters_; // of all ids
    std::vector<std::size_t> end_{0}; // of the letters of each id, after where the first begins
};

struct Id {
    std::uint64_t prefix;
    std::int32_t code;
};

} // namespace

EncodedTexts encode_texts(const Texts& texts) {
    EncodedTexts found{room<std::int32_t>(texts.size()), {}};
    Table table;
    interrupt::Pace pace;
    for (std::size_t k = 0; k < texts.size(); ++k) {
        const auto text = texts[k];
        pace.after(8 + static_cast<std::int64_t>(text.size()) / 8);
        found.codes[k] = table.code_of(k, text);
    }
    std::vector<Id> ids(table.first.size());
    for (std::size_t k = 0; k < ids.size(); ++k)
        ids[k] = {prefix(table.id(static_cast<std::int32_t>(k))), static_cast<std::int32_t>(k)};
    std::sort(ids.begin(), ids.end(), [&](const Id& a, const Id& b) {
        pace.after(1);
        return a.prefix != b.prefix ? a.prefix < b.prefix : table.id(a.code) < table.id(b.code);
    });
    std::vector<std::int32_t> rank(ids.size());
    for (std::size_t k = 0; k < ids.size(); ++k) {
        found.first.push_back(table.first[ids[k].code]);
        rank[ids[k].code] = static_cast<std::int32_t>(k);
    }
    for (std::size_t k = 0; k < texts.size(); ++k) found.codes[k] = rank[found.codes[k]];
    return found;
}

} // namespace optiframe::rankone
