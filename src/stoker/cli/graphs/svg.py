"""SVG without external tools: one file with its own style, light and dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unicodedata import east_asian_width
from xml.sax.saxutils import escape

from stoker.cli.graphs.layout import HEADER, LINE_HEIGHT, PADDING, Box, Picture, picture_of
from stoker.cli.graphs.model import Graph, label_lines, one_line

_MARGIN, _TITLE = 16.0, 32.0
_WIDEST = 29  # characters of a line in a box
_STYLE = """
svg{color-scheme:light dark;font:12px system-ui,sans-serif;
--ink:#1c2730;--dim:#5b6b77;--paper:#fff;--box:#fff;--line:#78909c;
--complete:#2e7d32;--in_progress:#b26a00;--failed:#c62828;--waiting:#607d8b}
@media(prefers-color-scheme:dark){svg{--ink:#e6edf3;--dim:#9fb0bd;--paper:#11171c;--box:#1a232b;
--line:#6b7f8c;--complete:#66bb6a;--in_progress:#ffb74d;--failed:#ff6f60;--waiting:#90a4ae}}
.paper{fill:var(--paper)}
text{fill:var(--ink)}text.dim{fill:var(--dim);font-size:11px}text.head{font-size:15px}
.name{font-weight:600}
rect.box{fill:var(--box);stroke:var(--line);stroke-width:1.2}
path{fill:none;stroke:var(--line);stroke-width:1.3}marker path{fill:var(--line);stroke:none}
.complete>rect.box{stroke:var(--complete)}.in_progress>rect.box{stroke:var(--in_progress)}
.paused>rect.box{stroke:var(--in_progress);stroke-width:3}
.failed>rect.box{stroke:var(--failed);stroke-width:3}
.failed>text.name{fill:var(--failed)}
.waiting>rect.box{stroke:var(--waiting);stroke-dasharray:4 3}
""".strip()
_HEAD = '<svg xmlns="http://www.w3.org/2000/svg" role="img"'
_ARROW = (
    '<marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7"'
    ' orient="auto"><path d="M0 0L8 4L0 8z"/></marker>'
)


def svg(graph: Graph) -> str:
    """Return a picture of a graph. Arrows lead from a requirement to its dependents."""
    picture = picture_of(graph)
    title = one_line(f"{graph.name} {graph.state}")
    width = max(picture.width, 9.0 * len(title)) + 2 * _MARGIN
    height = picture.height + _TITLE + 2 * _MARGIN
    size = f'width="{width:g}" height="{height:g}"'
    lines = [
        f"{_HEAD} {size} viewBox='0 0 {width:g} {height:g}'>",
        f"<title>{escape(title)}</title>",
        f"<style>{escape(_STYLE)}</style><defs>{_ARROW}</defs>",
        f'<rect class="paper" {size}/>',
        f'<text class="head name" x="{_MARGIN:g}" y="{_MARGIN + 14:g}">{escape(title)}</text>',
        f'<g transform="translate({_MARGIN:g} {_MARGIN + _TITLE:g})">',
        *_picture(picture),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _picture(picture: Picture) -> Iterator[str]:
    for line in picture.lines:
        yield f'<path d="{_curve(line)}" marker-end="url(#arrow)"/>'
    for box in picture.boxes:
        yield from _box(box)


def _curve(points: Sequence[tuple[float, float]]) -> str:
    """Return a line with horizontal ends; every second part, within a layer, is straight."""
    (x, y), *rest = points
    parts = [f"M{x:.1f} {y:.1f}"]
    for number, (next_x, next_y) in enumerate(rest):
        if number % 2:
            parts.append(f"H{next_x:.1f}")
        else:
            middle = (x + next_x) / 2
            parts.append(
                f"C{middle:.1f} {y:.1f} {middle:.1f} {next_y:.1f} {next_x:.1f} {next_y:.1f}"
            )
        x, y = next_x, next_y
    return "".join(parts)


def _box(box: Box) -> Iterator[str]:
    node = box.node
    status = f' class="{node.status.lower()}"' if node.status else ""
    yield f'<g{status} transform="translate({box.x:.1f} {box.y:.1f})">'
    lines = label_lines(node)
    yield f"<title>{escape(chr(10).join(lines))}</title>"
    size = f'width="{box.width:.1f}" height="{box.height:.1f}"'
    yield f'<rect class="box" rx="6" {size}/>'
    if node.is_closed:
        inner = f'width="{box.width - 6:.1f}" height="{box.height - 6:.1f}"'
        yield f'<rect class="box" x="3" y="3" rx="4" {inner}/>'
    shown = lines[:2] if box.inside is not None else lines
    for number, line in enumerate(shown):
        y = PADDING + LINE_HEIGHT * (number + 0.8)
        kind = "dim" if number else "name"
        yield f'<text class="{kind}" x="{PADDING:g}" y="{y:g}">{escape(_short(line))}</text>'
    if box.inside is not None:
        yield f'<g transform="translate({PADDING:g} {HEADER + PADDING:g})">'
        yield from _picture(box.inside)
        yield "</g>"
    yield "</g>"


def _short(text: str) -> str:
    """Return the start of a text that fits into a box; wide characters count twice."""
    width = 0
    for number, character in enumerate(text):
        width += 2 if east_asian_width(character) in "WF" else 1
        if width > _WIDEST:
            return f"{text[: number - 1]}…"
    return text
