"""Untrusted SVG: honest drawings are rendered exactly, hostile ones are refused or harmless, and quickly."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from sketchmark.errors import BadPicture, MissingExtra
from sketchmark.media import Picture
from sketchmark.media.svg import _WORKER, render
from tests.tabled import tabled

NAMES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
RED = (231, 76, 60)


def svg(inner: str, size: str = 'width="40" height="30"', before: str = "") -> str:
    return f"{before}<svg {NAMES} {size}>{inner}</svg>"


SQUARE = '<rect x="10" y="5" width="20" height="10" fill="#E74C3C"/>'


def _pixel(picture: Picture, x: int, y: int) -> tuple[int, ...]:
    found = picture.image().getpixel((x, y))
    assert isinstance(found, tuple)
    return found


def test_a_drawing_has_its_own_size_and_a_white_background() -> None:
    picture = render(svg(SQUARE))
    assert (picture.size, picture.format) == ((40, 30), "png")
    assert [_pixel(picture, *at) for at in ((10, 5), (29, 14), (9, 5), (30, 14))] == [
        RED,
        RED,
        (255,) * 3,
        (255,) * 3,
    ]


@tabled
def test_sizes_are_read_in_the_units_of_svg(size: str, pixels: tuple[int, int]) -> None:
    assert render(svg(SQUARE, size)).size == pixels


def test_a_plain_doctype_a_use_and_a_gradient_are_rendered() -> None:
    doctype = '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/x.dtd">'
    inner = (
        '<defs><linearGradient id="g"><stop offset="0" stop-color="#E74C3C"/></linearGradient>'
        '<rect id="r" width="5" height="5" fill="url(#g)"/></defs><use xlink:href="#r"/><use href="#r" x="20"/>'
    )
    picture = render(svg(inner, before=doctype))
    assert _pixel(picture, 2, 2) == _pixel(picture, 22, 2) == RED


def test_text_is_set_in_the_same_font_everywhere() -> None:
    words = [
        render(svg(f'<text y="20" font-family="{family}">Hi</text>')) for family in ("Arial", "serif", "Nowhere")
    ]
    assert len({picture.digest for picture in words}) == 1
    assert words[0].image().convert("L").getextrema()[0] == 0


@pytest.mark.parametrize("text", ["", "hello", "<svg", "<html/>", "<svg><g></svg>", svg("&nope;"), svg("\ud800")])
def test_invalid_svg_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(BadPicture) as refused:
        render(text)
    assert "\n" not in str(refused.value)


def laughs(levels: int) -> str:
    groups = (f'<g id="a{n + 1}">' + f'<use xlink:href="#a{n}"/>' * 10 + "</g>" for n in range(levels))
    return f'<rect id="a0" width="1" height="1"/>{"".join(groups)}<use xlink:href="#a{levels}"/>'


ENTITY = '<!DOCTYPE svg [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
FILE_ENTITY = '<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
HOSTILE = {
    "external file": (svg('<image href="/etc/secret.png" width="9" height="9"/>'), "outside of it: <image>"),
    "file address": (svg('<image xlink:href="file:///etc/secret.png"/>'), "outside of it"),
    "network": (svg('<image href="http://127.0.0.1/x.png"/>'), "outside of it"),
    "picture bomb": (svg('<image href="data:image/png;base64,iVBORw0KGgo="/>'), "outside of it"),
    "another document": (svg('<use href="other.svg#a"/>'), "outside of it: <use> to 'other.svg#a'"),
    "fill from outside": (svg("<rect style=\"fill:URL( 'x.svg#p' )\"/>"), "outside of it"),
    "style sheet": (svg("<style>@import 'http://x/y.css';</style>"), "imports a style sheet"),
    "font from outside": (svg("<style>@font-face{src:url(/etc/x.ttf)}</style>"), "outside of it"),
    "style instruction": (svg("", before='<?xml-stylesheet href="x.css"?>'), "style sheet outside"),
    "entity bomb": (svg("<text>&b;</text>", before=ENTITY), "its own document type"),
    "entity from a file": (svg("<text>&a;</text>", before=FILE_ENTITY), "its own document type"),
    "huge canvas": (svg("", 'width="100000" height="100000"'), "canvas whose width is 100000"),
    "huge in millimetres": (svg("", 'width="9" height="1e9mm"'), "canvas whose height is 1e9mm"),
    "huge by its box": (svg("", 'viewBox="0,0,10,5000"'), "canvas whose height is 5000"),
    "huge by its contents": (f'<svg {NAMES}><rect width="9" height="6000"/></svg>', "canvas of 9x6000 pixels"),
    "nested use": (svg(laughs(9)), "stands for more than 10000 elements"),
    "nested use, just too much": (svg(laughs(4)), "stands for more than 10000 elements"),
    "many elements": (svg("<g/>" * 10_001), "more than 10000 elements"),
    "deep nesting": (svg("<g>" * 500 + "</g>" * 500), "more than 100 deep"),
    "a pattern in itself": (
        svg('<pattern id="p" width="1" height="1"><rect fill="url(#p)"/></pattern><rect fill="url(#p)"/>'),
        "refers to itself",
    ),
    "use of its own parent": (svg('<g id="a"><use href="#a"/></g>'), "refers to itself"),
    "long text": (svg(f"<!--{'x' * 1_000_000}-->"), "characters"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_drawing_is_refused_by_name(name: str) -> None:
    text, why = HOSTILE[name]
    with pytest.raises(BadPicture, match=why) as refused:
        render(text)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300


def test_the_allowed_number_of_references_is_rendered() -> None:
    assert render(svg(laughs(3))).size == (40, 30)


SLOW = {
    "a filter of enormous reach": '<filter id="f" x="-1e6" y="-1e6" width="1e7" height="1e7" '
    'filterUnits="userSpaceOnUse"><feTurbulence numOctaves="1000000" baseFrequency="0.5"/></filter>',
    "a blur without end": '<filter id="f"><feGaussianBlur stdDeviation="1e8"/>'
    '<feMorphology radius="900" operator="dilate"/></filter>',
}


@pytest.mark.parametrize("name", SLOW)
def test_a_drawing_that_takes_minutes_is_stopped(name: str) -> None:
    text = svg(f'{SLOW[name]}<rect width="4000" height="4000" filter="url(#f)"/>', 'width="4000" height="4000"')
    with pytest.raises(BadPicture, match=r"stopped or broke off|not rendered within"):
        render(text, seconds=1)


def test_scripts_have_no_effect() -> None:
    inner = f'<script>while (true);</script><g onload="alert(1)" onclick="x()">{SQUARE}</g>'
    assert render(svg(inner)).image().tobytes() == render(svg(SQUARE)).image().tobytes()


def _work(text: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-P", str(_WORKER), "5"]
    return subprocess.run(command, input=text.encode(), capture_output=True, cwd=folder, timeout=60, check=False)


def test_the_renderer_cannot_open_files_that_the_check_missed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    Image.new("RGB", (9, 9), "red").save(secret)
    done = _work(svg(f'<image href="{secret}" width="9" height="9"/>'), tmp_path)
    assert done.returncode == 0
    assert _pixel(Picture.from_bytes(done.stdout), 4, 4) == (255, 255, 255)


def test_a_renderer_that_crashes_ends_only_its_process(tmp_path: Path) -> None:
    assert _work(svg("<g>" * 500 + SQUARE + "</g>" * 500), tmp_path).returncode < 0
    assert _work(svg(SQUARE, 'width="60000" height="60000"'), tmp_path).returncode < 0


@pytest.fixture
def without_resvg(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    yield


def test_a_missing_renderer_is_reported_with_the_command_that_installs_it(without_resvg: None) -> None:
    with pytest.raises(MissingExtra, match=r"sketchmark\[svg\]"):
        render(svg(SQUARE))


def test_the_renderer_gets_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, str] = {}

    def look(*args: object, env: dict[str, str], **others: object) -> subprocess.CompletedProcess[bytes]:
        seen.update(env)
        return subprocess.CompletedProcess([], 1, b"", b"no")

    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-never-written")
    monkeypatch.setattr(subprocess, "run", look)
    with pytest.raises(BadPicture, match="cannot be rendered: no"):
        render(svg(SQUARE))
    assert "PATH" in seen and not [name for name in seen if "KEY" in name]
