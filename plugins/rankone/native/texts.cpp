#include "texts.hpp"

#include "table.hpp"

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

// The letters of ids, kept, as another thread may change those that were given while ids are sorted by them.
class Ids {
public:
    void add(std::string_view text) {
        letters_.insert(letters_.end(), text.begin(), text.end());
        end_.push_back(letters_.size());
    }

    std::size_t size() const { return end_.size() - 1; }
    std::string_view operator[](std::int32_t code) const {
        return {letters_.data() + end_[code], end_[code + 1] - end_[code]};
    }

private:
    std::vector<char> letters_;       // of all ids
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
    Ids ids;
    std::vector<std::int64_t> first; // row of each id
    interrupt::Pace pace;
    for (std::size_t k = 0; k < texts.size(); ++k) {
        const auto text = texts[k];
        pace.after(8 + static_cast<std::int64_t>(text.size()) / 8);
        const auto same = [&](std::int32_t code) { return text.size() <= brief || ids[code] == text; };
        const auto [code, fresh] = table.code_of(key_of(text), same);
        found.codes[k] = code;
        if (!fresh) continue;
        ids.add(text);
        first.push_back(static_cast<std::int64_t>(k));
    }
    std::vector<Id> order(ids.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        const auto code = static_cast<std::int32_t>(k);
        order[k] = {prefix(ids[code]), code};
    }
    std::sort(order.begin(), order.end(), [&](const Id& a, const Id& b) {
        pace.after(1);
        return a.prefix != b.prefix ? a.prefix < b.prefix : ids[a.code] < ids[b.code];
    });
    std::vector<std::int32_t> rank(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        found.first.push_back(first[order[k].code]);
        rank[order[k].code] = static_cast<std::int32_t>(k);
    }
    renumber(found.codes, texts.size(), rank.data());
    return found;
}

} // namespace optiframe::rankone
