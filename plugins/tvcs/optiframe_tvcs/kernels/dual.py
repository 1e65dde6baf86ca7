"""Compiled passes that bring prices near their optimum, by smoothing the dual.

The dual of the support program is ``total y0 + r u + k w + sum max(0, q - y0 - u - w)``. With
the kink at 0 replaced by a ramp of some width the sums over elements become smooth in each
price, and the block (y0, u) can be minimised exactly for fixed w, and (y0, w) for fixed u: each
group has a threshold at which its bound is met, found by Newton steps inside a bracket.

Lists hold elements group by group: ``first[g]:first[g + 1]`` are the elements of group g, with
their worth, their group in the other view, and how many elements each stands for.
"""

# mypy: disable-error-code="no-untyped-def"
# Compiled code is not annotated: numba takes the types from the call.

from __future__ import annotations

import numpy as np

from optiframe_tvcs.kernels.jit import compiled, estimating


@estimating
def ramp_count(t, copies, a, b, theta, tau):
    """How many of t[a:b] are above theta, by a ramp of width tau, and minus the derivative."""
    n = 0.0
    d = 0.0
    inverse = 1.0 / tau
    shift = 0.5 - theta * inverse
    for k in range(a, b):
        z = t[k] * inverse + shift
        c = min(max(z, 0.0), 1.0)
        n += copies[k] * c
        d += copies[k] if z == c else 0.0
    return n, d * inverse


@estimating
def threshold(t, copies, a, b, base, cap, low, high, guess, tau, close):
    """Where base plus the ramp count of t[a:b] meets the cap; within [low, high]."""
    theta = min(max(guess, low), high)
    for _ in range(80):
        n, d = ramp_count(t, copies, a, b, theta, tau)
        over = base + n - cap
        if abs(over) <= close:
            break
        if over > 0:
            low = theta
        else:
            high = theta
        step = theta + over / d if d > 0 else low - 1.0
        if not low < step < high:
            step = 0.5 * (low + high)
            if step <= low or step >= high or high - low < 0.01 * tau:
                theta = step
                break
        theta = step
    return theta


@estimating
def minimise_block(
    first,
    other,
    worth,
    copies,
    base,
    caps,
    total,
    y0,
    price,
    other_price,
    tau,
    close,
    centre,
    window,
    t,
    star,
):
    """Minimise the smoothed dual over y0 and the prices of one view; gives y0.

    `base` counts, for each group, elements that are chosen for sure and are not in the list. No
    threshold moves further than its window from its centre: beyond, the list is not complete.
    t and star are scratch: an element each, a group each.
    """
    groups = len(caps)
    top = 0.0
    for g in range(groups):
        a, b = first[g], first[g + 1]
        low = np.inf
        high = -np.inf
        weight = 0.0
        for k in range(a, b):
            t[k] = worth[k] - other_price[other[k]]
        for k in range(a, b):
            low = min(low, t[k])
            high = max(high, t[k])
            weight += copies[k]
        if b == a or base[g] + weight <= caps[g]:
            star[g] = max(-1.0, centre[g] - window[g])  # the bound cannot bind
        else:
            star[g] = threshold(
                t, copies, a, b, base[g], caps[g], max(low - 0.5 * tau, centre[g] - window[g]),
                min(high + 0.5 * tau, centre[g] + window[g]), y0 + price[g], tau, close,
            )  # fmt: skip
        top = max(top, high)
    # y0: where the counts, each limited by its group's bound, meet the total.
    low = 0.0
    high = top + tau
    y = y0
    found = False
    for step_number in range(60):
        held = 0.0
        slope = 0.0
        if step_number == 0 and y0 == 0.0:
            y = 0.0
        for g in range(groups):
            if star[g] > y:
                held += caps[g]
            else:
                n, d = ramp_count(t, copies, first[g], first[g + 1], y, tau)
                held += base[g] + n
                slope += d
        over = held - total
        if y == 0.0 and over <= 0:
            break
        if abs(over) <= close:
            break
        if over > 0:
            low = y
        else:
            high = y
        step = y + over / slope if slope > 0 else low - 1.0
        if step <= 0.0 and low == 0.0 and not found:
            found = True  # try 0 itself once
            y = 0.0
            continue
        if not low < step < high:
            step = 0.5 * (low + high)
            if high - low < 0.01 * tau:
                break
        y = step
    for g in range(groups):
        price[g] = max(0.0, star[g] - y)
    return y


@compiled
def by_columns(first, other, worth, copies, columns):
    """The same list column by column: first, row, worth, copies, and the place in the list by rows."""
    n = len(other)
    start = np.zeros(columns + 1, np.int64)
    for k in range(n):
        start[other[k] + 1] += 1
    for j in range(columns):
        start[j + 1] += start[j]
    at = start[:-1].copy()
    row = np.empty(n, np.int32)
    value = np.empty(n)
    times = np.empty(n)
    for i in range(len(first) - 1):
        for k in range(first[i], first[i + 1]):
            j = at[other[k]]
            at[other[k]] = j + 1
            row[j] = i
            value[j] = worth[k]
            times[j] = copies[k]
    return start, row, value, times


@estimating
def spread(first, other, worth, copies, y0, price, other_price, need, old, centre, t):
    """For each group, the distance from its threshold within which `need` elements lie.

    Beyond the `old` windows a list holds only what other groups wanted, so that none grows
    beyond 1.5 times its old one.
    """
    groups = len(price)
    out = np.empty(groups)
    for g in range(groups):
        a, b = first[g], first[g + 1]
        largest = 0.0
        weight = 0.0
        theta = y0 + price[g]
        if abs(theta - centre[g]) > 0.9 * old[g]:
            out[g] = 2.0 * old[g]  # it would have moved further
            continue
        for k in range(a, b):
            t[k] = abs(worth[k] - other_price[other[k]] - theta)
        for k in range(a, b):
            largest = max(largest, t[k])
            weight += copies[k]
        if weight <= need[g]:
            out[g] = min(np.inf if b == a else largest, 1.5 * old[g])
            continue
        # Near the threshold the count grows about in proportion to the distance.
        h = min(largest, old[g]) * min(1.0, need[g] / weight)
        for _ in range(20):
            n = 0.0
            for k in range(a, b):
                n += copies[k] if t[k] <= h else 0.0
            if 0.75 * need[g] <= n <= 1.4 * need[g]:
                break
            h *= min(max(1.1 * need[g] / max(n, 0.1), 0.3), 4.0)
        out[g] = min(h, 1.5 * old[g])
    return out
