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
// takes six times as long for a hundred thousand ids, as it looks at each text in another place.
class Table {
public:
    explicit Table(const Texts& texts) : texts_(texts), cells_(std::size_t{1} << bits_) {}

    std::int32_t code_of(std::size_t row) {
        const auto text = texts_[row];
        const auto key = key_of(text);
        for (auto at = place(key);; at = (at + 1) & (cells_.size() - 1)) {
            auto& cell = cells_[at];
            if (cell.code < 0) {
                const auto code = static_cast<std::int32_t>(first.size());
                cell = {key, code};
                first.push_back(static_cast<std::int64_t>(row));
                if (2 * first.size() > cells_.size()) grow();
                return code;
            }
            if (cell.key == key && (text.size() <= brief || texts_[first[cell.code]] == text)) return cell.code;
        }
    }

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

    const Texts& texts_;
    int bits_ = 10;
    std::vector<Cell> cells_;
};

struct Id {
    std::uint64_t prefix;
    std::int32_t code;
};

} // namespace

EncodedTexts encode_texts(const Texts& texts) {
    EncodedTexts found{room<std::int32_t>(texts.size()), {}};
    Table table(texts);
    interrupt::Pace pace;
    for (std::size_t k = 0; k < texts.size(); ++k) {
        pace.after(8 + (texts.start[k + 1] - texts.start[k]) / 8);
        found.codes[k] = table.code_of(k);
    }
    std::vector<Id> ids(table.first.size());
    for (std::size_t k = 0; k < ids.size(); ++k)
        ids[k] = {prefix(texts[table.first[k]]), static_cast<std::int32_t>(k)};
    std::sort(ids.begin(), ids.end(), [&](const Id& a, const Id& b) {
        pace.after(1);
        return a.prefix != b.prefix ? a.prefix < b.prefix : texts[table.first[a.code]] < texts[table.first[b.code]];
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
