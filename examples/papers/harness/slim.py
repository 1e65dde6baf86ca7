"""Smaller SVG files that look the same: shorter numbers, styles named once, images with a palette."""

from __future__ import annotations

import base64
import io
import re
from itertools import groupby

from PIL import Image

_DECIMALS = 2  # of a point, 1/72 inch
_COLOURS = 128  # fewer leave bands in an image
_TRANSPARENT = 32  # enough for curves
_PLACES = re.compile(r'(?<= )(d|x|y)="([^"]*)"')
_NUMBER = re.compile(r"-?\d+\.\d+")
_IMAGE = re.compile(r"(?<=data:image/png;base64,)[A-Za-z0-9+/=\s]+")
_FONTS = re.compile(r"'Bitstream Vera Sans'.*?'Avant Garde', ")  # fallbacks, which every text names
_USE = re.compile(r'<use (?P<rest>[^>]*?) style="(?P<style>[^"]*)"/>')


def slim(svg: str) -> str:
    """The drawing in fewer bytes; what matplotlib writes, and nothing else, is understood."""
    svg = _PLACES.sub(lambda found: f'{found[1]}="{_rounded(found[2])}"', svg)
    svg = _FONTS.sub("", svg)
    svg = _IMAGE.sub(lambda found: _with_palette(found[0]), svg)
    return "\n".join(_styled_once([line.strip() for line in svg.splitlines()])) + "\n"


def _rounded(places: str) -> str:
    def short(number: re.Match[str]) -> str:
        text = f"{float(number[0]):.{_DECIMALS}f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text

    return " ".join(_NUMBER.sub(short, places).split())


def _with_palette(encoded: str) -> str:
    """A PNG image again, with a palette where that is shorter."""
    old = base64.b64decode(encoded)
    read = Image.open(io.BytesIO(old))
    if read.mode == "P":
        return encoded
    image = read.convert("RGBA")
    opaque = image.getchannel("A").getextrema() == (255, 255)
    made = (
        image.convert("RGB").quantize(_COLOURS)
        if opaque
        else image.quantize(_TRANSPARENT, method=Image.Quantize.FASTOCTREE)
    )
    new = io.BytesIO()
    made.save(new, "PNG", optimize=True)
    return base64.b64encode(min(new.getvalue(), old, key=len)).decode()


def _styled_once(lines: list[str]) -> list[str]:
    """Markers of one style in a row as a group that has the style."""
    made: list[str] = []
    for style, group in groupby(lines, key=_style):
        same = list(group)
        if style is None or len(same) == 1:
            made += same
        else:
            bare = [_USE.sub(r"<use \g<rest>/>", line) for line in same]
            made += [f'<g style="{style}">', *bare, "</g>"]
    return made


def _style(line: str) -> str | None:
    found = _USE.fullmatch(line)
    return found["style"] if found else None
