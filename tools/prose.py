#!/usr/bin/env python3
"""Count the tics of our prose, by the patterns of the style guide.

    tools/prose [PATH …] [--list] [--top] [--limit 150]

Prose is: strings, comments and docstrings of Python, JavaScript and CSS; the text of Markdown and HTML; comments of
YAML, and the YAML values that Sketchmark prints itself. Everything else in a YAML file goes to a model or to code:
prompts are published texts and must not change.

Code in prose does not count: backticked text, fenced blocks, paths, dotted, underscored and called names, options,
regular expressions (raw strings) and strings that are a single lower-case name. `tools/prose_allowed.txt` lists
checked exceptions, one per line: a part of the text around the hit, or a /regular expression/.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import tokenize
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = Path(__file__).resolve().parent / "prose_allowed.txt"

TICS: tuple[tuple[str, int, str], ...] = (
    (r"\b(nobody|whoever|somebody|anybody)\b", 166, "name the actor"),
    (r"\b(stands|stood|lies)\b(?! for)", 154, "is, appears"),
    (r"\bbeside\b", 190, "next to, with"),
    (r"\b(tells?|told)\b", 177, "report, print"),
    (r"(?<!there )\b(is|are|was|were) no (?!longer|more)", 105, "is not a"),
    (r"\balone\b", 155, "only"),
    (r"\b(line|row|file|question|object|CPU)s? a [a-z]+\b", 15, "per"),
    (r"\bwhat (there is|is there)\b", 10, "name it"),
    (r"\bin (plain |few )?words\b", 88, "delete"),
    (r"\bof (its|their|one's) own\b", 119, "separate"),
    (r"\bsum(s|med)? (it |them )?up\b", 10, "summarise"),
    (r"\b(comes?|came) (to|of)\b", 25, "total, reach"),
    (r"\b(mend(ed|s)?|anew|for ever|hinders?|fared?|milliards?)\b", 65, "fix, again"),
    (r"\b(the next|this|one|every|last) start\b", 43, "invocation"),
    (r"\bplay(s|ed|ing)?\b", 382, "run"),
    (r'"""(What|Who|Where|Whether|How|From) |[.;:] Of\b', 621, "noun phrase"),
    (r"\bjudge who\b|\b(he|him|his)\b", 12, "it"),
    (r"\d %|\bper cent\b|\btime-out|\bdata sets?\b", 183, "95%, timeout, dataset"),
    (r";.*;", 103, "split"),
)
"""Pattern, hits in src and docs before the rewrite (ca3eba5, code names included), cure."""

OURS = {"about", "note", "protocol", "channel", "group", "source"}
"""Keys of our YAML files whose values are printed and never sent."""

_PATTERNS = [re.compile(pattern, re.IGNORECASE) for pattern, _, _ in TICS]
_CODE = re.compile(
    r"`[^`]*`"
    r"|\]\([^)]*\)"  # the target of a link
    r"|https?://\S+"
    r"|\{[^{}]*\}"  # a placeholder
    r"|(?<![\w-])--?[a-z][\w-]*"
    r"|[\w.*-]*[\w*]/[\w/.*-]*"
    r"|\w*_\w*"
    r"|\w+(\.\w+)+"
    r"|\b\w+\(\)"
)
_MASK = "\x00"
_NAME = re.compile(r"[a-z0-9_./:*-]*")


@dataclass(frozen=True)
class Hit:
    path: Path
    line: int
    text: str
    tic: int


Lines = list[tuple[int, str]]
"""One piece of prose, as lines with their numbers."""


def hits_in(path: Path, text: str, allowed: Iterable[re.Pattern[str]] = ()) -> Iterator[Hit]:
    """Yield the tics in a file's prose. A phrase may run over the end of a line; `;.*;` is counted per line."""
    allowed = tuple(allowed)
    for piece in prose_of(path, text):
        lines = [(number, line.strip()) for number, line in piece]
        whole = " ".join(line for _, line in lines)
        starts = [0]
        for _, line in lines[:-1]:
            starts.append(starts[-1] + len(line) + 1)
        masked = _CODE.sub(lambda code: _MASK * len(code.group()), whole)
        fine = [found.span() for rule in allowed for found in rule.finditer(whole)]
        for tic, pattern in enumerate(_PATTERNS):
            if ".*" in pattern.pattern:
                spans = [
                    (start + found.start(), start + found.end())
                    for start, (_, line) in zip(starts, lines, strict=True)
                    for found in pattern.finditer(masked[start : start + len(line)])
                ]
            else:
                spans = [found.span() for found in pattern.finditer(masked)]
            for begin, end in spans:
                if not any(first <= begin and end <= last for first, last in fine):
                    number, line = lines[bisect_right(starts, begin) - 1]
                    yield Hit(path, number, line, tic)


def prose_of(path: Path, text: str) -> Iterator[Lines]:
    match path.suffix:
        case ".py":
            yield from _python(text)
        case ".md":
            yield from _markdown(text)
        case ".yaml" | ".yml":
            yield from _yaml(text)
        case ".js" | ".css":
            yield from _scripts(text)
        case ".html":
            yield from _numbered(re.sub(r"<(?!!)[^>]*>", "", text))


def _numbered(text: str, first: int = 1) -> Iterator[Lines]:
    """Split text at empty lines."""
    piece: Lines = []
    for number, line in enumerate(text.splitlines(), first):
        if line.strip():
            piece.append((number, line))
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def _python(text: str) -> Iterator[Lines]:
    """Yield comments and strings. Comments on neighbouring lines are one piece, and so are joined strings."""
    piece: Lines = []
    kind = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        if name == "COMMENT":
            alone = not token.line[: token.start[1]].strip()
            if not (kind == "COMMENT" and alone and piece[-1][0] == token.start[0] - 1):
                yield from [piece] if piece else []
                piece = []
            kind = "COMMENT"
            piece.append((token.start[0], token.string.lstrip("#")))
        elif name in ("STRING", "FSTRING_MIDDLE"):
            if kind != "STRING":
                yield from [piece] if piece else []
                piece = []
            kind = "STRING"
            piece.extend(enumerate(_spoken(token.string, name).split("\n"), token.start[0]))
        elif name not in ("NL", "INDENT", "DEDENT") and piece and kind == "STRING" and "FSTRING" not in name:
            yield piece
            piece, kind = [], ""
    if piece:
        yield piece


def _spoken(token: str, kind: str) -> str:
    """Return what a string says, without its marks; `\"\"\"` stays, because a pattern asks for it."""
    if kind == "FSTRING_MIDDLE":
        return token
    head = re.match(r"[a-zA-Z]*", token)
    prefix = head.group() if head else ""
    body = token[len(prefix) :]
    if body.startswith('"""'):
        return body[:-3]
    if "r" in prefix.lower() or "b" in prefix.lower():
        return ""
    body = re.sub(r"\\[nt]", "  ", body.strip("'\""))
    return "" if _NAME.fullmatch(body) else body


def _markdown(text: str) -> Iterator[Lines]:
    """Yield paragraphs, outside fenced blocks."""
    kept, fence = [], ""
    for line in text.splitlines():
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if mark and (not fence or mark.group(1).startswith(fence)):
            fence = "" if fence else mark.group(1)
            kept.append("")
        else:
            kept.append("" if fence else line)
    yield from _numbered("\n".join(kept))


def _yaml(text: str) -> Iterator[Lines]:
    """Yield comments, and values of the keys in OURS."""
    import yaml

    scalars: list[tuple[yaml.ScalarNode, str]] = []

    def walk(node: yaml.Node | None, key: str) -> None:
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                scalars.append((name, ""))
                walk(value, str(name.value))
        elif isinstance(node, yaml.SequenceNode):
            for value in node.value:
                walk(value, key)
        elif isinstance(node, yaml.ScalarNode):
            scalars.append((node, key))

    walk(yaml.compose(text, Loader=yaml.SafeLoader), "")
    rest = list(text)
    for node, key in scalars:
        start, end = node.start_mark, node.end_mark
        if key in OURS:
            yield from _numbered(text[start.index : end.index].strip("'\""), start.line + 1)
        rest[start.index : end.index] = [
            letter if letter == "\n" else "x" for letter in text[start.index : end.index]
        ]
    comments = [
        (number, line[line.index("#") + 1 :] if re.search(r"(^|\s)#", line) else "")
        for number, line in enumerate("".join(rest).split("\n"), 1)
    ]
    yield from _numbered("\n".join(line for _, line in comments))


def _scripts(text: str) -> Iterator[Lines]:
    """Yield comments and strings of JavaScript and CSS."""
    forms = r"/\*.*?\*/|(?<![:\w])//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
    for found in re.finditer(forms, text, re.DOTALL):
        said = found.group()
        if said.startswith("`"):
            said = re.sub(r"\$\{[^{}]*\}", " ", said)
        said = (
            said.strip("`'\"") if said[0] in "`'\"" else re.sub(r"^[ \t]*(/\*+|\*/|\*|//)|\*/$", "", said, flags=re.M)
        )
        if not _NAME.fullmatch(said):
            yield list(enumerate(said.split("\n"), text.count("\n", 0, found.start()) + 1))


def read_allowed(text: str) -> list[re.Pattern[str]]:
    """Read exceptions: /regular expressions/ and plain parts of a text; `#` begins a remark line."""
    rules = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [
        re.compile(rule[1:-1] if rule.startswith("/") and rule.endswith("/") else re.escape(rule), re.IGNORECASE)
        for rule in rules
    ]


def files_of(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in found if file.is_file() and "__pycache__" not in file.parts)


def main(arguments: list[str] | None = None) -> int:
    about = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="files and folders (default: src docs)")
    about.add_argument("--list", action="store_true", help="every hit with its pattern")
    about.add_argument("--top", action="store_true", help="hits per file")
    about.add_argument("--limit", type=int, metavar="N", help="exit with 1 above N hits")
    asked = about.parse_args(arguments)
    allowed = read_allowed(ALLOWED.read_text("utf-8")) if ALLOWED.exists() else []
    hits: list[Hit] = []
    for path in files_of(asked.paths or [ROOT / "src", ROOT / "docs"]):
        if path.suffix in (".py", ".md", ".yaml", ".yml", ".js", ".css", ".html"):
            shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
            hits.extend(hits_in(shown, path.read_text("utf-8"), allowed))
    if asked.list:
        for hit in sorted(hits, key=lambda hit: (str(hit.path), hit.line)):
            pattern, _, cure = TICS[hit.tic]
            print(f"{hit.path}:{hit.line}: {hit.text}  ← {pattern} ({cure})")
    if asked.top:
        for name, count in Counter(str(hit.path) for hit in hits).most_common():
            print(f"{count:5}  {name}")
    counts = Counter(hit.tic for hit in hits)
    print("  now  before  pattern → cure")
    for tic, (pattern, before, cure) in enumerate(TICS):
        print(f"{counts[tic]:5}  {before:6}  {pattern} → {cure}")
    print(f"{len(hits):5}  {sum(before for _, before, _ in TICS):6}  all")
    return int(asked.limit is not None and len(hits) > asked.limit)


if __name__ == "__main__":
    sys.exit(main())
