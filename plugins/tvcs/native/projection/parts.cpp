#include "parts.hpp"

#include <algorithm>

namespace optiframe::tvcs {

Vector<i32> strong_parts(std::span<const Link> links, i64 nodes) {
    Vector<i32> first(nodes + 1), part(nodes, -1), low(nodes, -1), stack, path;
    for (const Link& link : links) {
        first[link.tail + 1] += link.room > 0;
        first[link.head + 1] += link.back > 0;
    }
    for (i64 v = 0; v < nodes; ++v) first[v + 1] += first[v];
    Vector<i32> next(first[nodes]), at(first.begin(), first.end() - 1);
    for (const Link& link : links) {
        if (link.room > 0) next[at[link.tail]++] = link.head;
        if (link.back > 0) next[at[link.head]++] = link.tail;
    }
    std::copy(first.begin(), first.end() - 1, at.begin());
    Vector<i32> number(nodes, -1);
    i32 seen = 0, found = 0;
    for (i32 root = 0; root < nodes; ++root) {
        if (number[root] >= 0 || first[root] == first[root + 1]) continue;
        path.push_back(root);
        while (!path.empty()) {
            const i32 v = path.back();
            if (number[v] < 0) {
                number[v] = low[v] = seen++;
                stack.push_back(v);
            }
            if (at[v] < first[v + 1]) {
                const i32 u = next[at[v]++];
                if (number[u] < 0)
                    path.push_back(u);
                else if (part[u] < 0)
                    low[v] = std::min(low[v], number[u]);
                continue;
            }
            path.pop_back();
            if (!path.empty()) low[path.back()] = std::min(low[path.back()], low[v]);
            if (low[v] < number[v]) continue;
            for (i32 u = -1; u != v;) {
                u = stack.back();
                stack.pop_back();
                part[u] = found;
            }
            ++found;
        }
    }
    for (i32& each : part)
        if (each < 0) each = found++; // leads nowhere
    return part;
}

} // namespace optiframe::tvcs
