"""Prices on one list by single Newton steps: the smoothed dual of `kernels.dual`, without solving each block.

One pass over the list counts each group's elements above its threshold by a ramp, and how many
lie on the ramp. That gives one Newton step for each threshold and for y0; the other view follows
with its own, and the ramp narrows as prices settle. A step is no longer than the ramp is wide,
so that a group whose count does not change yet walks and does not jump.
"""

# mypy: disable-error-code="no-untyped-def"
# Compiled code is not annotated: numba takes the types from the call.

from __future__ import annotations

from optiframe_tvcs.kernels.jit import estimating


@estimating
def newton_block(
    first, other, worth, base, caps, total, y0, price, other_price, tau, centre, window, star,
):  # fmt: skip
    """One step for y0 and the prices of one view; gives y0 and how many elements lie on the ramp.

    As in `kernels.dual`, `base` counts elements chosen for sure that are not in the list, and no
    threshold leaves its window around its centre; `star` is scratch, one number a group.
    """
    inverse = 1.0 / tau
    held = 0.0
    slope = 0.0
    ramp = 0.0
    for g in range(len(caps)):
        theta = y0 + price[g]
        shift = 0.5 - theta * inverse
        n = 0.0
        d = 0.0
        for k in range(first[g], first[g + 1]):
            z = (worth[k] - other_price[other[k]]) * inverse + shift
            c = min(max(z, 0.0), 1.0)
            n += c
            d += 1.0 if z == c else 0.0
        n += base[g]
        ramp += d
        over = n - caps[g]
        step = over / d if d > 0.0 else over
        star[g] = theta + min(max(step, -1.0), 1.0) * tau
        star[g] = min(max(star[g], centre[g] - window[g]), centre[g] + window[g])
        if star[g] > y0:
            held += caps[g]
        else:
            held += n
            slope += d
    over = held - total
    step = over / slope if slope > 0.0 else over
    y0 = max(y0 + min(max(step, -1.0), 1.0) * tau, 0.0)
    for g in range(len(caps)):
        price[g] = max(0.0, star[g] - y0)
    return y0, ramp


@estimating
def anneal(
    first, col, worth, cfirst, crow, cworth, base_r, base_c, row_caps, column_caps, total, y0, u, w,
    tau, widths, centre_r, centre_c, window_r, window_c, star,
):  # fmt: skip
    """A step for each view at each of the widths, elements a group on the ramp; fills u and w, gives y0."""
    groups = len(row_caps) + len(column_caps)
    for width in widths:
        y0, ramp = newton_block(
            first, col, worth, base_r, row_caps, total, y0, u, w, tau, centre_r, window_r, star
        )
        y0, ramp = newton_block(
            cfirst, crow, cworth, base_c, column_caps, total, y0, w, u, tau, centre_c, window_c, star
        )
        # Where few elements lie on it the ramp is not narrowed further than by half.
        tau = max(2.0, tau * min(1.0, max(width * groups / max(ramp, 1.0), 0.5)))
    return y0
