"""The pictures of docs/concepts.md as SVG: `python docs/draw_pictures.py`. Each takes the colours of its page.

As a file a picture follows the system (light or dark); on the site it is drawn into the page and follows the page's
own colours (docs/style/site.css).
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Final

PICTURES: Final = Path(__file__).parent / "pictures"
WIDTH: Final = 560
# The colours of docs/style/site.css.
_LIGHT: Final = "ink #1d2429 faint #66727a known #0b5c63 guess #b4540a ground #fff right #2c7a3f wrong #b3261e"
_DARK: Final = "ink #e4eaee faint #9aa6af known #7fd3da guess #ffb871 ground #1e2429 right #86d29a wrong #ff9c94"


def _declared(colours: str) -> str:
    words = colours.split()
    return " ".join(f"--{name}: {value};" for name, value in zip(words[::2], words[1::2], strict=True))


_STYLE: Final = f"""<style>
svg {{ {_declared(_LIGHT)} }}
@media (prefers-color-scheme: dark) {{ svg {{ {_declared(_DARK)} }} }}
</style>"""

Point = tuple[float, float]


def line(a: Point, b: Point, colour: str = "faint", width: float = 1.5, dash: str = "") -> str:
    """A straight line."""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{a[0]:g}" y1="{a[1]:g}" x2="{b[0]:g}" y2="{b[1]:g}" stroke="var(--{colour})" '
        f'stroke-width="{width:g}"{dashed}/>'
    )


def dot(at: Point, colour: str = "ink", radius: float = 8, hollow: bool = False, dash: str = "") -> str:
    """An account."""
    fill = "var(--ground)" if hollow else f"var(--{colour})"
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<circle cx="{at[0]:g}" cy="{at[1]:g}" r="{radius:g}" fill="{fill}" stroke="var(--{colour})" '
        f'stroke-width="2"{dashed}/>'
    )


def text(
    at: Point, words: str, colour: str = "ink", size: float = 17, anchor: str = "middle", bold: bool = False
) -> str:
    """Words at a place."""
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{at[0]:g}" y="{at[1]:g}" fill="var(--{colour})" font-size="{size:g}" text-anchor="{anchor}" '
        f'paint-order="stroke" stroke="var(--ground)" stroke-width="4"{weight}>{escape(words)}</text>'
    )


def box(at: Point, width: float, height: float, colour: str, opacity: float = 1) -> str:
    """A filled rectangle."""
    return (
        f'<rect x="{at[0]:g}" y="{at[1]:g}" width="{width:g}" height="{height:g}" rx="3" fill="var(--{colour})" '
        f'fill-opacity="{opacity:g}"/>'
    )


def picture(name: str, title: str, description: str, height: int, *parts: str) -> str:
    """A whole SVG file; title and description are for those who do not see it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-labelledby="{name}-title {name}-text" font-family="system-ui, sans-serif">\n{_STYLE}\n'
        f'<title id="{name}-title">{escape(title)}</title>\n<desc id="{name}-text">{escape(description)}</desc>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


# Two small networks: the same people sit at the same height.
_LEFT: Final[dict[str, Point]] = {
    "ann": (150, 50),
    "ben": (70, 90),
    "cleo": (190, 115),
    "dev": (100, 160),
    "eve": (185, 195),
}
_RIGHT: Final[dict[str, Point]] = {
    "ann_p": (400, 50),
    "b3n": (500, 85),
    "cleo.x": (375, 120),
    "d_v": (470, 160),
    "zoe": (385, 195),
}
_LEFT_EDGES: Final = (("ann", "ben"), ("ann", "cleo"), ("ben", "dev"), ("cleo", "dev"), ("cleo", "eve"))
_RIGHT_EDGES: Final = (("ann_p", "b3n"), ("ann_p", "cleo.x"), ("b3n", "d_v"), ("cleo.x", "d_v"), ("d_v", "zoe"))


def networks(colours: dict[str, str] | None = None) -> list[str]:
    """Both networks: edges, accounts, names, and a heading over each."""
    chosen = colours or {}
    parts = [text((120, 22), "left network", "faint", 16), text((440, 22), "right network", "faint", 16)]
    for places, edges, side in ((_LEFT, _LEFT_EDGES, -1), (_RIGHT, _RIGHT_EDGES, 1)):
        parts += [line(places[a], places[b]) for a, b in edges]
        for name, at in places.items():
            parts.append(dot(at, chosen.get(name, "ink")))
            anchor = "end" if side < 0 else "start"
            parts.append(text((at[0] + side * 14, at[1] + 5), name, chosen.get(name, "ink"), 16, anchor))
    return parts


def anchor() -> str:
    """Two networks and two pairs that are known."""
    pairs = (("ann", "ann_p"), ("ben", "b3n"))
    joins = [line(_LEFT[a], _RIGHT[b], "known", 3) for a, b in pairs]
    known = dict.fromkeys(("ann", "ann_p", "ben", "b3n"), "known")
    return picture(
        "anchor",
        "Anchors",
        "Two networks of five accounts each. Thick lines join ann with ann_p and ben with b3n: these pairs are known. "
        "The other accounts are not joined.",
        225,
        *joins,
        *networks(known),
        text((280, 40), "known pairs: anchors", "known", 16, bold=True),
    )


def candidate() -> str:
    """One account, and the accounts that it could be."""
    at = _LEFT["dev"]
    ways = [line(at, _RIGHT[name], "guess", 2.5 if name == "d_v" else 1.2, "5 4") for name in ("d_v", "cleo.x", "zoe")]
    colours = dict.fromkeys(("dev", "d_v", "cleo.x", "zoe"), "guess") | dict.fromkeys(
        ("ann", "ann_p", "ben", "b3n"), "known"
    )
    return picture(
        "candidate",
        "Candidates",
        "The same two networks. Dashed lines lead from dev on the left to three accounts on the right: d_v, cleo.x and "
        "zoe. The line to d_v is the thickest.",
        240,
        *ways,
        *networks(colours),
        text((280, 232), "dev: who could it be?", "guess", 16, bold=True),
    )


def probability() -> str:
    """What a probability of 0.9 means: of ten such pairs nine are right."""
    parts = []
    for place in range(10):
        x, right = 56 + place * 50, place != 6
        colour = "right" if right else "wrong"
        parts += [line((x, 52), (x, 98), colour, 2.5, "" if right else "4 4")]
        parts += [dot((x, 46), colour), dot((x, 104), colour)]
        parts.append(text((x, 140), "right" if right else "wrong", colour, 14))
    parts.append(text((280, 22), "ten pairs, each with a probability of 0.9", "ink", 17, bold=True))
    description = "Ten pairs of accounts in a row, each with a probability of 0.9. Nine are right and one is wrong."
    return picture("probability", "Probability", description, 155, *parts)


def counterpart() -> str:
    """An account of a person who is not in the other network."""
    parts = [*networks({"eve": "guess", "zoe": "faint"})]
    parts.append(line(_LEFT["eve"], (300, 232), "guess", 2, "5 4"))
    parts.append(dot((308, 238), "guess", 9, hollow=True, dash="3 3"))
    parts.append(text((326, 243), "not in the right network", "guess", 16, "start"))
    description = (
        "The same two networks. A dashed line leads from eve on the left to an empty place: she has no account on the "
        "right. zoe on the right has no account on the left."
    )
    return picture("counterpart", "Counterpart", description, 260, *parts)


def margin() -> str:
    """Scores of three candidates, and the lead of the first."""
    parts = [text((20, 24), "scores of the candidates of dev", "faint", 16, "start")]
    for row, (name, length) in enumerate((("d_v", 360), ("cleo.x", 210), ("zoe", 60))):
        y = 44 + row * 38
        parts.append(text((78, y + 17), name, "ink", 17, "end"))
        parts.append(box((90, y), length, 24, "known" if row == 0 else "faint", 1 if row == 0 else 0.55))
    parts += [line((300, 60), (300, 96), "guess", 1.5, "4 3"), line((450, 40), (450, 96), "guess", 1.5, "4 3")]
    parts += [line((302, 92), (448, 92), "guess", 2.5), text((375, 111), "margin", "guess", 16, bold=True)]
    description = "Three bars for three candidates. The first is the longest; the distance to the second is the margin."
    return picture("margin", "Margin", description, 165, *parts)


def decision() -> str:
    """The scale of probabilities, cut at two places."""
    left, width = 30, 500
    parts = [
        box((left, 50), width * 0.1, 34, "faint", 0.45),
        box((left + width * 0.1, 50), width * 0.62, 34, "guess", 0.75),
        box((left + width * 0.72, 50), width * 0.28, 34, "known", 1),
        text((left, 38), "no match", "faint", 16, "start"),
        text((left + width * 0.41, 38), "review", "guess", 16, bold=True),
        text((left + width * 0.86, 38), "match", "known", 16, bold=True),
        line((left + width * 0.72, 44), (left + width * 0.72, 96), "ink", 2),
        text((left + width * 0.72, 112), "threshold", "ink", 16),
        text((left, 112), "0", "faint", 16),
        text((left + width * 0.1, 112), "0.1", "faint", 16),
        text((left + width, 112), "1", "faint", 16),
        text((280, 138), "probability of an assigned pair", "faint", 16),
    ]
    description = (
        "A scale of probabilities from 0 to 1. Below 0.1: no match. From there to the threshold: review. From the "
        "threshold on: match."
    )
    return picture("decision", "Decision", description, 150, *parts)


DRAWN: Final = (anchor, candidate, probability, counterpart, margin, decision)

if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for draw in DRAWN:
        (PICTURES / f"{draw.__name__}.svg").write_text(draw(), "utf-8")
