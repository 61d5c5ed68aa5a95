"""Comments cite pages of docs/ by path and heading: what they cite is there, and nothing outside the repository.

The form is `docs/benchmarks/NAME.md`, and after a comma the heading in double quotes.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_CITED = re.compile(r'(?P<page>docs/[\w./-]+\.md)(?:,\s+"(?P<heading>[^"]+)")?')
_LINKED = re.compile(r'\]\((?P<page>[\w./-]+\.md)\)(?:,\s+"(?P<heading>[^"]+)")?')
_MISSING_DOCUMENT = re.compile(r"\bspecs?\b|\bspecification\b|§|\bsections? \d", re.IGNORECASE)
_NEXT_LINE = re.compile(r"\n[ \t]*(?:#[ \t]*)?")


def _sources() -> list[Path]:
    """All but this file, whose examples cite pages that do not exist."""
    kinds = (ROOT / top for top in ("src", "tests", "bench"))
    found = (path for top in kinds for suffix in ("py", "yaml") for path in sorted(top.rglob(f"*.{suffix}")))
    return [path for path in found if path != Path(__file__).resolve()]


def _remarks(source: str) -> Iterator[str]:
    """The comments of a Python file, and the strings that stand by themselves: docstrings and their like."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def _citations(text: str, form: re.Pattern[str] = _CITED) -> list[tuple[str, str | None]]:
    """Page and heading. A citation may be broken across the lines of a comment."""
    return [(found["page"], found["heading"]) for found in form.finditer(_NEXT_LINE.sub(" ", text))]


def _headings(page: Path) -> set[str]:
    return set(re.findall(r"^#+ (.+?)\s*$", page.read_text("utf-8"), re.MULTILINE))


def _problem(page: Path, heading: str | None) -> str | None:
    if not page.is_file():
        return "no such page"
    return f"no heading {heading!r}" if heading and heading not in _headings(page) else None


def _broken(path: Path, text: str, folder: Path, form: re.Pattern[str] = _CITED) -> list[str]:
    return [
        f"{path.relative_to(ROOT)} cites {page}: {problem}"
        for page, heading in _citations(text, form)
        if (problem := _problem(folder / page, heading))
    ]


def test_what_the_code_cites_from_the_docs_is_there() -> None:
    texts = {path: path.read_text("utf-8") for path in _sources()}
    assert sum(heading is not None for text in texts.values() for _, heading in _citations(text)) > 50
    assert [line for path, text in texts.items() for line in _broken(path, text, ROOT)] == []


def test_what_the_pages_cite_from_each_other_is_there() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    assert [line for page in pages for line in _broken(page, page.read_text("utf-8"), page.parent, _LINKED)] == []


def test_no_comment_points_at_a_document_that_is_not_in_the_repository() -> None:
    found = []
    for path in _sources():
        source = path.read_text("utf-8")
        if not _MISSING_DOCUMENT.search(source):  # most files; looking for their comments takes longer
            continue
        remarks = _remarks(source) if path.suffix == ".py" else re.findall(r"#.*", source)
        found += [
            f"{path.relative_to(ROOT)}: {remark[:120]}" for remark in remarks if _MISSING_DOCUMENT.search(remark)
        ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"""What it is (docs/x/y.md, "The heading")."""', [("docs/x/y.md", "The heading")]),
        ("see docs/x.md", [("docs/x.md", None)]),
        ('# so (docs/x.md,\n    # "A\n    # b")', [("docs/x.md", "A b")]),
        ('docs/x.md, "A", and docs/y.md, "B"', [("docs/x.md", "A"), ("docs/y.md", "B")]),
    ],
)
def test_citations_are_found_in_all_their_forms(text: str, found: list[tuple[str, str | None]]) -> None:
    assert _citations(text) == found


def test_a_page_or_heading_that_is_missing_is_named(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n## Kept\n")
    assert _problem(page, "Kept") is None and _problem(page, None) is None
    assert _problem(page, "Renamed") == "no heading 'Renamed'"
    assert _problem(tmp_path / "gone.md", None) == "no such page"


def test_code_may_say_spec_where_a_comment_may_not() -> None:
    remarks = [*_remarks('"""By the spec."""\nspec = "§ 3"  # section 5\n')]
    assert remarks == ["# section 5", "By the spec."]
    assert all(_MISSING_DOCUMENT.search(remark) for remark in remarks)
    assert not _MISSING_DOCUMENT.search("special sections of the report, inspected")


def test_the_tests_that_a_page_names_are_there() -> None:
    pages = [ROOT / "SECURITY.md", ROOT / "docs/reliability.md"]
    named = {name for page in pages for name in re.findall(r"tests/[\w/]+\.py", page.read_text("utf-8"))}
    assert len(named) > 30
    assert sorted(name for name in named if not (ROOT / name).exists()) == []
