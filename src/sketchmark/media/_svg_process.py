"""The process that renders one SVG: text on standard input, PNG on standard output. Never imported.

It loads nothing of Sketchmark, so that it starts fast. It works in an empty folder that its parent deletes. Exit code
1 comes with one line of the renderer on standard error. Any other code means that a limit ended it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

_MEMORY = 1 << 30


def main(seconds: int) -> int:
    import resvg_py

    text = sys.stdin.buffer.read().decode("utf-8")
    fonts: dict[str, Any] = _font() if "<text" in text or ":text" in text else {}
    _limit(seconds, open_files=16 if fonts else 3)
    try:
        png = resvg_py.svg_to_bytes(svg_string=text, skip_system_fonts=True, dpi=96, **fonts)
    except ValueError as error:
        sys.stderr.write(" ".join(str(error).split())[:300])
        return 1
    sys.stdout.buffer.write(png)
    return 0


def _font() -> dict[str, Any]:
    """Use Pillow's own font for all families: text looks the same on every machine."""
    from PIL import ImageFont

    font = ImageFont.load_default(16)
    assert isinstance(font, ImageFont.FreeTypeFont)
    Path("font.ttf").write_bytes(font.font_bytes)
    kinds = ("font", "serif", "sans_serif", "cursive", "fantasy", "monospace")
    return {"font_files": ["font.ttf"], **{f"{kind}_family": font.getname()[0] for kind in kinds}}


def _limit(seconds: int, open_files: int) -> None:
    """Limit time, memory and open files, if the system has such limits (Windows has not)."""
    try:
        import resource
    except ImportError:
        return
    limits = {resource.RLIMIT_CPU: seconds, resource.RLIMIT_AS: _MEMORY, resource.RLIMIT_NOFILE: open_files}
    for kind, most in {**limits, resource.RLIMIT_CORE: 0}.items():
        try:
            resource.setrlimit(kind, (most, most))
        except (OSError, ValueError):
            continue


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
