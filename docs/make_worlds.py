"""Fill docs/worlds.md with the docstring and the contact sheet of each world.

python docs/make_worlds.py
"""

from __future__ import annotations

import re
from pathlib import Path

from sketchmark.worlds import installed_worlds

PAGE = Path(__file__).with_name("worlds.md")
_SECTIONS = re.compile(r"(<!-- worlds -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(page: str) -> str:
    """Return the page with a section per world that has levels."""
    sections = []
    for world in installed_worlds():
        if world.chances:
            first, _, rest = world.about.strip().partition("\n\n")
            told = f"{first.strip()}\n\n{_with_code(rest.strip())}"
            sheet = f"![{world.name}: levels, looks and steps](pictures/worlds/{world.name}.png)"
            sections.append(f"## {world.name}\n{told}\n\n{sheet}\n")
    return _SECTIONS.sub(lambda found: found[1] + "\n".join(sections) + found[2], page)


def _with_code(text: str) -> str:
    """Mark lists of answers as code: Markdown would take them for links."""
    return re.sub(r'(?<!`)(\["[^\]]*"\])', r"`\1`", text)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text("utf-8")), "utf-8")
