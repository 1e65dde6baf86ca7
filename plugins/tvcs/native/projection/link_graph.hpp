// Links between groups, and the graph of where units may go along them.
#pragma once

#include <algorithm>
#include <numeric>

#include "instance.hpp"

namespace optiframe::tvcs {

// An arc with room for so many units forwards and back. A unit forwards costs `cost`, and one back earns it.
struct Link {
    i32 tail, head;
    i32 room, back;
    i64 cost;
    i32 element; // its number among those that are open; below zero: the bound of a group or of all

    bool is_element() const { return element >= 0; }
};

// The nodes of links: which group each is, the rows first, then the columns, the source and the sink. Elements in no
// row begin at the source, those in no column end at the sink.
struct Ends {
    std::span<const i32> node;
    i64 rows, columns;

    i64 source() const { return rows + columns; }
    i64 sink() const { return source() + 1; }
};

struct Half {
    i64 cost;
    i32 head, other; // the node it leads to, and the half there
    i32 room, both;  // units that fit on it, and on it and its other together
};

// Each link twice, at its tail and at its head, node by node and there in the order of the links.
struct LinkGraph {
    Vector<i64> first;
    Vector<Half> half;
    Vector<i64> at; // of each node the half that was looked at last

    LinkGraph(std::span<const Link> links, i64 nodes) : first(nodes + 1), half(2 * links.size()), at(nodes) {
        for (const Link& link : links) {
            ++first[link.tail + 1];
            ++first[link.head + 1];
        }
        std::partial_sum(first.begin(), first.end(), first.begin());
        rewind();
        for (const Link& link : links) {
            const i64 out = at[link.tail]++, in = at[link.head]++;
            half[out] = {link.cost, link.head, static_cast<i32>(in), link.room, link.room + link.back};
            half[in] = {-link.cost, link.tail, static_cast<i32>(out), link.back, link.room + link.back};
        }
    }

    // All nodes look at their first half next.
    void rewind() { std::copy(first.begin(), first.end() - 1, at.begin()); }

    void write_rooms(std::span<Link> links) {
        rewind();
        for (Link& link : links) {
            link.room = half[at[link.tail]++].room;
            link.back = half[at[link.head]++].room;
        }
    }
};

} // namespace optiframe::tvcs
