#include "candidates.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>

#include <optiframe/dispatch.hpp>
#include <optiframe/interrupt.hpp>

namespace optiframe::tvcs {

namespace {

constexpr i64 chunk = 2048; // elements at a time: what is looked up for them stays in the cache

struct Totals {
    i64 wrong = 0, above = 0, inside = 0;
};

// New states of elements of one row; `price` and `window` are those of their columns.
OPTIFRAME_CLONES Totals mark_chunk(i64 n, const double* __restrict worth, const double* __restrict price,
                                   const double* __restrict window, double threshold, double row_window,
                                   u8* __restrict state, u8* __restrict now) {
    for (i64 k = 0; k < n; ++k) {
        const double z = worth[k] - threshold - price[k];
        const double width = row_window > window[k] ? row_window : window[k];
        const bool near = (std::abs(z) <= width) & (worth[k] > 0);
        now[k] = static_cast<u8>((z > 0 ? chosen_bit : 0) | (near ? listed_bit : 0));
    }
    unsigned wrong = 0, above = 0, inside = 0;
    for (i64 k = 0; k < n; ++k) {
        wrong += (state[k] < listed_bit) & ((now[k] & chosen_bit) != state[k]);
        inside += now[k] / listed_bit;
        above += now[k] == chosen_bit;
        state[k] = now[k];
    }
    return {wrong, above, inside};
}

OPTIFRAME_CLONES void add_alike(i64 n, const u8* __restrict state, u8 of, u8 alike, i64* __restrict counts) {
    for (i64 k = 0; k < n; ++k) counts[k] += (state[k] & of) == alike;
}

// Elements of one row join the list that are on the wrong side, or near; gives how many. `price` is that of their
// columns. What would make one join that is not chosen, and one that is, is marked first: each loop is vectorized.
OPTIFRAME_CLONES i64 join_chunk(i64 n, const double* __restrict worth, const double* __restrict price,
                                const double* __restrict window, double threshold, double row_window, double widened,
                                u8* __restrict state, u8* __restrict now) {
    for (i64 k = 0; k < n; ++k) {
        const double z = worth[k] - threshold + price[k];
        const bool near = std::abs(z) <= widened * (row_window > window[k] ? row_window : window[k]);
        now[k] = static_cast<u8>(((((z > 0) | near) & (worth[k] > 0)) ? 1 : 0) | (((z < 0) | near) ? 2 : 0));
    }
    unsigned found = 0;
    for (i64 k = 0; k < n; ++k) {
        const u8 joins = (state[k] & chosen_bit ? now[k] >> 1 : now[k] & 1) & (state[k] < listed_bit);
        found += joins;
        state[k] |= static_cast<u8>(joins * listed_bit);
    }
    return found;
}

OPTIFRAME_CLONES i64 near_chunk(i64 n, const double* __restrict worth, const double* __restrict price,
                                double threshold, double width, u8* __restrict near) {
    unsigned found = 0;
    for (i64 k = 0; k < n; ++k) {
        near[k] = std::abs(worth[k] - threshold - price[k]) <= width;
        found += near[k];
    }
    return found;
}

// Writes the places of listed elements between `begin` and `end` from the m-th on; gives how many there are by then. Of
// 64 elements at a time a bit each says where the few are.
i64 add_listed(std::span<const u8> state, i64 begin, i64 end, std::span<i32> places, i64 m) {
    i64 k = begin;
    for (; k + 64 <= end; k += 64) {
        std::uint64_t listed = 0, eight;
        for (i64 n = 0; n < 64; n += 8) {
            std::memcpy(&eight, state.data() + k + n, 8);
            if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
            listed |= ((eight >> 1 & 0x0101010101010101) * 0x0102040810204080 >> 56) << n;
        }
        for (; listed != 0; listed &= listed - 1) places[m++] = static_cast<i32>(k + std::countr_zero(listed));
    }
    for (; k < end; ++k) {
        places[m] = static_cast<i32>(k); // one more than there is room for in the end
        m += state[k] >> 1;
    }
    return m;
}

// Whether rows that follow one another have the same columns, without a gap, and the others none.
bool are_full(const View& rows) {
    if (!rows.runs) return false;
    i64 length = 0, before = -1;
    for (i64 i = 0; i < rows.groups(); ++i) {
        const i64 begin = rows.first[i], n = rows.first[i + 1] - begin;
        if (n == 0) continue;
        if (before >= 0 && (n != length || i != before + 1 || rows.other[begin] != rows.other[0])) return false;
        length = n;
        before = i;
    }
    return true;
}

// A number at a share of a sorted sample.
double sampled(Vector<double>& sample, i64 place) {
    std::ranges::nth_element(sample, sample.begin() + place);
    return sample[place];
}

// Of n elements every so many are looked at: 1,000 say enough, and it is not to take longer than to use them all.
i64 step_to_sample(i64 n) { return std::max<i64>(1, n / std::clamp<i64>(n / 16, 64, 1000)); }

} // namespace

Columns by_columns(const View& rows, std::span<const double> worth, i64 columns) {
    const i64 n = rows.elements();
    Columns found{Vector<i64>(columns + 1), Vector<i32>(n), Vector<double>(n), Vector<i32>(n)};
    for (const i32 j : rows.other) ++found.first[j + 1];
    std::partial_sum(found.first.begin(), found.first.end(), found.first.begin());
    Vector<i64> at(found.first.begin(), found.first.end() - 1);
    for (i64 i = 0; i < rows.groups(); ++i)
        for (i64 k = rows.first[i]; k < rows.first[i + 1]; ++k) {
            const i64 m = at[rows.other[k]]++;
            found.row[m] = static_cast<i32>(i);
            found.worth[m] = worth[k];
            found.place[m] = static_cast<i32>(k);
        }
    found.runs = are_full(rows);
    return found;
}

void count_alike(const View& view, i64 begin, i64 end, const u8* state, u8 of, u8 alike, std::span<i64> counts) {
    const i32* group = view.other.data() + begin;
    if (view.runs && begin < end)
        add_alike(end - begin, state, of, alike, counts.data() + group[0]);
    else
        for (i64 k = 0; k < end - begin; ++k) counts[group[k]] += (state[k] & of) == alike;
}

Marked mark(const Elements& all, const Prices& prices, const Windows& windows, Sure& sure,
            Vector<i64>& listed) {
    std::ranges::fill(sure.columns, 0);
    Marked found{0, 0};
    double price_room[chunk], window_room[chunk];
    u8 now[chunk];
    interrupt::Pace pace;
    for (i64 i = 0; i < all.view.groups(); ++i) {
        pace.after(all.view.first[i + 1] - all.view.first[i]);
        sure.rows[i] = listed[i] = 0;
        for (i64 begin = all.view.first[i]; begin < all.view.first[i + 1]; begin += chunk) {
            const i64 n = std::min(chunk, all.view.first[i + 1] - begin);
            const double* price = all.view.of_groups(prices.w, begin, begin + n, price_room);
            const double* window = all.view.of_groups(windows.columns, begin, begin + n, window_room);
            const Totals totals =
                mark_chunk(n, all.whole.data() + begin, price, window, prices.y0 + prices.u[i], windows.rows[i],
                           all.state.data() + begin, now);
            count_alike(all.view, begin, begin + n, now, chosen_bit | listed_bit, chosen_bit, sure.columns);
            found.wrong += totals.wrong;
            sure.rows[i] += totals.above;
            listed[i] += totals.inside;
        }
        found.listed += listed[i];
    }
    return found;
}

List gather(const Elements& all, std::span<const i64> listed) {
    const i64 rows = all.view.groups(), n = std::reduce(listed.begin(), listed.end());
    List list{Vector<i64>(rows + 1), Vector<i32>(n), Vector<double>(n), Vector<i32>(n + 1), Vector<u8>(n)};
    i64 m = 0;
    for (i64 i = 0; i < rows; ++i) {
        if (listed[i] > 0) m = add_listed(all.state, all.view.first[i], all.view.first[i + 1], list.place, m);
        list.first[i + 1] = m;
    }
    list.place.resize(n);
    for (m = 0; m < n; ++m) {
        const i32 k = list.place[m];
        list.column[m] = all.view.other[k];
        list.worth[m] = all.whole[k];
        list.chosen[m] = all.state[k] & chosen_bit;
    }
    return list;
}

i64 price_out(const Elements& all, std::span<const double> phi, const Windows& windows, double widened,
              Vector<i64>& listed) {
    const i64 rows = all.view.groups();
    i64 found = 0;
    double price_room[chunk], window_room[chunk];
    u8 now[chunk];
    interrupt::Pace pace;
    for (i64 i = 0; i < rows; ++i) {
        pace.after(all.view.first[i + 1] - all.view.first[i]);
        i64 joined = 0;
        for (i64 begin = all.view.first[i]; begin < all.view.first[i + 1]; begin += chunk) {
            const i64 n = std::min(chunk, all.view.first[i + 1] - begin);
            const double* price = all.view.of_groups(phi.subspan(rows), begin, begin + n, price_room);
            const double* window = all.view.of_groups(windows.columns, begin, begin + n, window_room);
            joined += join_chunk(n, all.whole.data() + begin, price, window, phi[i], windows.rows[i], widened,
                                 all.state.data() + begin, now);
        }
        listed[i] += joined;
        found += joined;
    }
    return found;
}

double rank_value(std::span<const double> whole, i64 rank) {
    const i64 n = static_cast<i64>(whole.size());
    const i64 step = step_to_sample(n);
    Vector<double> sample;
    for (i64 k = 0; k < n; k += step) sample.push_back(whole[k]);
    const i64 place = static_cast<i64>(sample.size()) - 1 - rank / step;
    return place >= 0 ? sampled(sample, place) : 0.0;
}

double near_width(const View& view, std::span<const double> worth, const Prices& prices, double want) {
    const i64 n = view.elements();
    if (n == 0) return 0.0;
    const i64 step = step_to_sample(n);
    Vector<double> sample;
    i64 i = 0;
    for (i64 k = 0; k < n; k += step) {
        while (view.first[i + 1] <= k) ++i;
        sample.push_back(std::abs(worth[k] - (prices.y0 + prices.u[i]) - prices.w[view.other[k]]));
    }
    const i64 m = static_cast<i64>(sample.size());
    return sampled(sample,
                   std::min(static_cast<i64>(want / static_cast<double>(n) * static_cast<double>(m)), m - 1));
}

void near_each(const Elements& all, const Prices& prices, double width, std::span<double> rows,
               std::span<double> columns) {
    Vector<i64> counts(columns.size());
    double price_room[chunk];
    u8 near[chunk];
    for (i64 i = 0; i < all.view.groups(); ++i) {
        rows[i] = 0.0;
        for (i64 begin = all.view.first[i]; begin < all.view.first[i + 1]; begin += chunk) {
            const i64 n = std::min(chunk, all.view.first[i + 1] - begin);
            const double* price = all.view.of_groups(prices.w, begin, begin + n, price_room);
            rows[i] += static_cast<double>(
                near_chunk(n, all.whole.data() + begin, price, prices.y0 + prices.u[i], width, near));
            count_alike(all.view, begin, begin + n, near, 1, 1, counts);
        }
    }
    std::ranges::copy(counts, columns.begin());
}

} // namespace optiframe::tvcs
