"""Compiled passes over all elements: quantising, lists of candidates, pricing, the final check."""

# mypy: disable-error-code="no-untyped-def"
# Compiled code is not annotated: numba takes the types from the call.

from __future__ import annotations

import numpy as np

from optiframe_tvcs.jit import compiled

CHOSEN = 1  # bits of an element's state
LISTED = 2


@compiled
def largest_of(weights):
    """The largest weight, at least 0, or nan when one is not finite."""
    top = 0.0
    total = 0.0
    for k in range(len(weights)):
        top = max(top, weights[k])
        total += weights[k] * 0.0  # 0, or nan
    return top if total == 0.0 else np.nan


@compiled
def quantised(weights, order, scale, whole):
    """Whole-number worths in the order of the rows; the positive, which are counted, stay positive."""
    positive = 0
    if len(order) == 0:
        for k in range(len(weights)):
            w = weights[k]
            whole[k] = max(np.rint(w * scale), 1.0) if w > 0 else 0.0
            positive += np.int64(w > 0)
    else:
        for k in range(len(weights)):
            w = weights[order[k]]
            whole[k] = max(np.rint(w * scale), 1.0) if w > 0 else 0.0
            positive += np.int64(w > 0)
    return positive


@compiled
def mark(first, col, whole, rho, b, window_r, window_c, state, base_r, base_c, listed_r, again):  # fmt: skip
    """Chosen by sign of the reduced worth; listed when within the windows.

    Gives how many are listed, and, with `again`, how many changed sides that were not listed before.

    Also counts, for each group, the chosen elements that are not listed.
    """
    base_c[:] = 0
    n = 0
    wrong = 0
    for i in range(len(rho)):
        theta = rho[i]
        h = window_r[i]
        above = 0
        inside = 0
        for k in range(first[i], first[i + 1]):
            # without branches, which would be mispredicted
            q = whole[k]
            j = col[k]
            z = q - theta - b[j]
            x = np.uint8(z > 0)
            near = np.uint8(abs(z) <= max(h, window_c[j])) & np.uint8(q > 0)
            old = state[k]
            wrong += np.int64(old < LISTED) & np.int64(old != x)
            inside += np.int64(near)
            sure = np.int64(x & (near ^ 1))
            above += sure
            base_c[j] += sure
            state[k] = x | (near << 1)
        base_r[i] = above
        listed_r[i] = inside
        n += inside
    return n, wrong if again else 0


@compiled
def gather(first, col, whole, state, listed_r, n):
    """The listed elements row by row: first, column, worth, place, chosen."""
    lfirst = np.zeros(len(listed_r) + 1, np.int64)
    lplace = np.empty(n + 1, np.int32)
    m = 0
    for i in range(len(listed_r)):
        if listed_r[i] > 0:
            for k in range(first[i], first[i + 1]):
                lplace[m] = k
                m += state[k] >> 1
        lfirst[i + 1] = m
    lplace = lplace[:n]
    lcol = np.empty(n, np.int32)
    lworth = np.empty(n)
    chosen = np.empty(n, np.uint8)
    for m in range(n):
        k = lplace[m]
        lcol[m] = col[k]
        lworth[m] = whole[k]
        chosen[m] = state[k] & CHOSEN
    return lfirst, lcol, lworth, lplace, chosen


@compiled
def columns_of(lfirst, lcol, lworth, columns):
    """The list column by column: first, row, worth, and the place in the list."""
    n = len(lcol)
    start = np.zeros(columns + 1, np.int64)
    for k in range(n):
        start[lcol[k] + 1] += 1
    for j in range(columns):
        start[j + 1] += start[j]
    at = start[:-1].copy()
    row = np.empty(n, np.int32)
    value = np.empty(n)
    place = np.empty(n, np.int32)
    for i in range(len(lfirst) - 1):
        for k in range(lfirst[i], lfirst[i + 1]):
            j = at[lcol[k]]
            at[lcol[k]] = j + 1
            row[j] = i
            value[j] = lworth[k]
            place[j] = k
    return start, row, value, place


@compiled
def price_out(first, col, whole, phi, state, listed_r, excess, window_r, window_c, widened):
    """Correct elements outside the list by the sign of their reduced worth; the corrected join the list.

    So do those within `widened` times their window; give -1 for none. Gives how many were wrong.
    """
    rows = len(listed_r)
    wrong = 0
    for i in range(rows):
        theta = phi[i]
        joined = 0
        for k in range(first[i], first[i + 1]):
            s = state[k]
            if s >= LISTED:
                continue
            q = whole[k]
            z = q - theta + phi[rows + col[k]]
            width = widened * max(window_r[i], window_c[col[k]])
            if s == 0:
                if z > 0 and q > 0:
                    state[k] = LISTED | CHOSEN
                    excess[i] -= 1
                    excess[rows + col[k]] += 1
                    joined += 1
                    wrong += 1
                elif z >= -width and q > 0:
                    state[k] = LISTED
                    joined += 1
            elif z < 0:
                state[k] = LISTED
                excess[i] += 1
                excess[rows + col[k]] -= 1
                joined += 1
                wrong += 1
            elif z <= width:
                state[k] = LISTED | CHOSEN
                joined += 1
        listed_r[i] += joined
    return wrong


@compiled
def verify(first, col, whole, state, y0, u, w, row_caps, column_caps, total, sums):
    """Complementary slackness over all elements and bounds; gives failures and the worst one.

    `sums` gets the worth of the support and the bound by the prices, each as a count of 2**26
    and a rest, so that nothing is rounded.
    """
    rows = len(row_caps)
    held_c = np.zeros(len(column_caps), np.int64)
    primal_high = primal_low = dual_high = dual_low = 0
    failures = 0
    held = 0
    part = 2.0**-26
    whole_part = 2.0**26
    for i in range(rows):
        theta = y0 + u[i]
        count = 0
        # Sums of a row stay below 2**53: upper parts are below 2**25, lower parts below 2**26.
        ph = pl = dh = dl = 0.0
        for k in range(first[i], first[i + 1]):
            q = whole[k]
            j = col[k]
            z = q - theta - w[j]
            x = np.int64(state[k] & CHOSEN)
            over = max(z, 0.0)
            high = np.floor(over * part)
            dh += high
            dl += over - high * whole_part
            kept = q * x
            high = np.floor(kept * part)
            ph += high
            pl += kept - high * whole_part
            count += x
            held_c[j] += x
            failures += (x & (np.int64(z < 0) | np.int64(q <= 0))) | ((1 - x) & np.int64(z > 0))
        primal_high += np.int64(ph)
        primal_low += np.int64(pl)
        dual_high += np.int64(dh)
        dual_low += np.int64(dl)
        held += count
        if count > row_caps[i] or (u[i] > 0 and count != row_caps[i]):
            failures += 1
        if u[i] > 0:
            high = np.floor(u[i] * part)
            dual_high += np.int64(high) * row_caps[i]
            dual_low += np.int64(u[i] - high * 67108864.0) * row_caps[i]
    for j in range(len(column_caps)):
        if held_c[j] > column_caps[j] or (w[j] > 0 and held_c[j] != column_caps[j]):
            failures += 1
        if w[j] > 0:
            high = np.floor(w[j] * part)
            dual_high += np.int64(high) * column_caps[j]
            dual_low += np.int64(w[j] - high * 67108864.0) * column_caps[j]
    if held > total or (y0 > 0 and held != total):
        failures += 1
    high = np.floor(y0 * part)
    dual_high += np.int64(high) * total
    dual_low += np.int64(y0 - high * 67108864.0) * total
    sums[0] = primal_high
    sums[1] = primal_low
    sums[2] = dual_high
    sums[3] = dual_low
    worst = -1
    failure = 0.0
    if failures > 0:
        for i in range(rows):
            for k in range(first[i], first[i + 1]):
                z = whole[k] - y0 - u[i] - w[col[k]]
                z = -z if state[k] & CHOSEN else z
                if z > failure:
                    failure = z
                    worst = k
    sums[4] = worst
    sums[5] = np.int64(failure)
    return failures


@compiled
def rank_value(whole, rank):
    """About the worth above which `rank` elements lie, from some 1,000 of them."""
    step = max(1, len(whole) // min(1000, max(64, len(whole) // 16)))
    values = np.sort(whole[::step])
    at = len(values) - 1 - np.int64(rank / step)
    return values[at] if at >= 0 else 0.0


@compiled
def near_width(lfirst, lcol, lworth, rho, b, want):
    """A width within which about `want` elements of the list lie, from a sample of at most some 1,000."""
    n = len(lcol)
    step = max(1, n // min(1000, max(64, n // 16)))  # sorting them is not to take longer than using them
    z = np.empty(n // step + 1)
    m = 0
    i = 0
    for k in range(0, n, step):
        while lfirst[i + 1] <= k:
            i += 1
        z[m] = abs(lworth[k] - rho[i] - b[lcol[k]])
        m += 1
    z = np.sort(z[:m])
    at = int(want / n * m) if n > 0 else 0
    return z[min(at, m - 1)] if m > 0 else 0.0
