"""Compiled passes over all elements: whole-number worths, prices, the final check, and the answer."""

# mypy: disable-error-code="no-untyped-def, assignment"
# Compiled code is not annotated: numba takes the types from the call, and whole numbers widen.

from __future__ import annotations

import math

import numpy as np

from optiframe_tvcs.kernels.jit import compiled

CHOSEN = 1  # bits of an element's state
LISTED = 2
UNUSABLE = -1  # given for failures where a value is not finite, or its square no ordinary number
_LEAST, _MOST = 1e-75, 1e75  # entries whose squares are ordinary numbers
_MAGNITUDE = 0x7FFFFFFFFFFFFFFF  # bits of a number but its sign
_INFINITE = 0x7FF0000000000000  # those of infinity; of what is not a number they are more
_HALF = 26  # bits of the lower part of a sum, whose upper part counts 2**26


@compiled
def largest_worth(values, squared):
    """The largest worth, at least 0, or -1 where the values cannot be used as they are."""
    # As whole numbers, which the bits of floating-point numbers order like, maxima are vectorised.
    bits = values.view(np.int64)
    largest = farthest = np.int64(0)
    for k in range(len(bits)):
        largest = max(largest, bits[k])
        farthest = max(farthest, bits[k] & _MAGNITUDE)
    if farthest >= _INFINITE:
        return -1.0
    top = np.array([farthest if squared else largest]).view(np.float64)[0]
    if squared and top > 0.0:
        return top * top if _LEAST < top < _MOST else -1.0
    return top


@compiled
def units_for(top):
    """The scale that brings the largest worth just below 2**50, and the highest price that is needed."""
    if top <= 0.0:
        return 1.0, 0.0
    scale = 2.0 ** min(50 - math.frexp(top)[1], 1000)
    return scale, max(np.rint(top * scale), 1.0)


@compiled
def quantised(values, squared, order, scale, whole):
    """Whole-number worths in the order of the rows; the positive, which are counted, stay positive."""
    positive = 0
    ordered = len(order) > 0
    for k in range(len(values)):
        x = values[order[k]] if ordered else values[k]
        worth = x * x if squared else x
        some = x != 0.0 if squared else x > 0.0
        whole[k] = max(np.rint(worth * scale), 1.0) if some else 0.0
        positive += np.int64(some)
    return positive


@compiled
def opened(values, squared, order, total, prices, support, kept, report):
    """The worths in whole units, in the order of the rows; gives (going, scale, limit, whole).

    `going` is positive where there is something to solve. Else it is `UNUSABLE`, or 0 and the answer is
    given out already: nothing has a worth, or the whole vector no room.
    """
    report[:] = 0
    report[12] = -1  # the worst element, of the six numbers of the check behind eight of effort
    top = largest_worth(values, squared)
    scale, limit = units_for(top)
    whole = np.empty(len(values) if top > 0.0 and total > 0 else 0)
    if top < 0.0:
        return UNUSABLE, scale, limit, whole
    if len(whole) == 0:
        nothing_chosen(limit, prices, support, kept)
        return 0, scale, limit, whole
    report[4] = quantised(values, squared, order, scale, whole)
    return 1, scale, limit, whole


@compiled
def potentials_of(y0, u, w):
    """Potentials of rows, columns, source and sink from prices."""
    rows = len(u)
    groups = rows + len(w)
    phi = np.empty(groups + 2)
    for i in range(rows):
        phi[i] = y0 + u[i]
    for j in range(len(w)):
        phi[rows + j] = -w[j]
    phi[groups] = y0
    phi[groups + 1] = 0.0
    return phi


@compiled
def prices_of(phi, limit, u, w):
    """Prices of the bounds from potentials, none above the largest worth; gives y0."""
    rows = len(u)
    source = rows + len(w)
    for i in range(rows):
        u[i] = min(max(0.0, phi[i] - phi[source]), limit)
    for j in range(len(w)):
        w[j] = min(max(0.0, phi[source + 1] - phi[rows + j]), limit)
    return max(0.0, phi[source] - phi[source + 1])


@compiled
def verify(first, col, whole, state, y0, u, w, row_caps, column_caps, total, sums):
    """Complementary slackness over all elements and bounds; gives how many fail.

    `sums` gets the worth of the support and the bound by the prices, each as a count of 2**26
    and a rest, so that nothing is rounded; then the worst element and its failure. Where nothing
    fails the two are equal: each chosen element's worth is its prices and what is left, and
    each price is paid as often as its bound says.
    """
    held_c = np.zeros(len(column_caps), np.int64)
    high = low = 0
    failures = 0
    held = 0
    for i in range(len(row_caps)):
        theta = y0 + u[i]
        count = 0
        for k in range(first[i], first[i + 1]):  # no branches and only whole sums: vectorised
            q = whole[k]
            z = q - theta - w[col[k]]
            x = np.int64(state[k] & CHOSEN)
            kept = np.int64(q) * x
            high += kept >> _HALF
            low += kept & ((1 << _HALF) - 1)
            count += x
            failures += (x & (np.int64(z < 0) | np.int64(q <= 0))) | ((1 - x) & np.int64(z > 0))
        for k in range(first[i], first[i + 1]):
            held_c[col[k]] += state[k] & CHOSEN
        held += count
        failures += count > row_caps[i] or (u[i] > 0 and count != row_caps[i])
    for j in range(len(column_caps)):
        failures += held_c[j] > column_caps[j] or (w[j] > 0 and held_c[j] != column_caps[j])
    failures += held > total or (y0 > 0 and held != total)
    sums[0] = sums[2] = high
    sums[1] = sums[3] = low
    sums[4] = -1
    sums[5] = 0
    if failures > 0:
        blame(first, col, whole, state, y0, u, w, row_caps, column_caps, total, sums)
    return failures


@compiled
def blame(first, col, whole, state, y0, u, w, row_caps, column_caps, total, sums):
    """The bound by prices that fail, and the worst element."""
    rest = (1 << _HALF) - 1
    high = (np.int64(y0) >> _HALF) * total
    low = (np.int64(y0) & rest) * total
    for j in range(len(column_caps)):
        high += (np.int64(w[j]) >> _HALF) * column_caps[j]
        low += (np.int64(w[j]) & rest) * column_caps[j]
    worst = -1
    failure = 0.0
    for i in range(len(row_caps)):
        high += (np.int64(u[i]) >> _HALF) * row_caps[i]
        low += (np.int64(u[i]) & rest) * row_caps[i]
        for k in range(first[i], first[i + 1]):
            z = whole[k] - y0 - u[i] - w[col[k]]
            if z > 0:
                high += np.int64(z) >> _HALF
                low += np.int64(z) & rest
            z = -z if state[k] & CHOSEN else z
            if z > failure:
                failure = z
                worst = k
    sums[2] = high
    sums[3] = low
    sums[4] = worst
    sums[5] = np.int64(failure)


@compiled
def give_out(values, order, state, support, kept, sums):
    """Fills the support, or the kept values, of whatever length is not 0; gives how many are chosen."""
    held = 0
    for k in range(len(state)):
        held += state[k] & CHOSEN
    if len(order) > 0:
        for k in range(len(support)):
            support[order[k]] = state[k] & CHOSEN
        for k in range(len(kept)):
            kept[order[k]] = values[order[k]] if state[k] & CHOSEN else 0.0
        if sums[4] >= 0:
            sums[4] = order[sums[4]]
    else:
        for k in range(len(support)):
            support[k] = state[k] & CHOSEN
        for k in range(len(kept)):
            kept[k] = values[k] if state[k] & CHOSEN else 0.0
    return held


@compiled
def nothing_chosen(limit, prices, support, kept):
    """The answer where nothing has a worth or the whole vector no room."""
    prices[:] = 0.0
    prices[0] = limit
    support[:] = False
    kept[:] = 0.0
