"""Episodes with something to listen to, in the viewer: what is served, and what a browser makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from starlette.testclient import TestClient

from sketchmark.view import serving
from tests.core.hearing import tone
from tests.view.browsing import Watch, keep, launched, window
from tests.view.making import Maker, browse, heard, play, sample

NAME = f"{tone().digest}.wav"
LOST = f"{tone(880).digest}.wav"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """One sample with a sound, one whose sound is gone, one without."""
    maker = Maker(tmp_path / "run", cells=("maze.direct",))
    for number, of in enumerate((heard(sample(0)), heard(sample(1), tone(880)), sample(2))):
        maker.add("maze.direct", play(of, "direct", True), number)
    maker.finish().pictures.path(LOST).unlink()
    return tmp_path


@pytest.fixture
def client(runs: Path) -> Iterator[TestClient]:
    with browse(runs) as client:
        yield client


def test_a_sound_is_served_unchanged_with_its_media_type(client: TestClient) -> None:
    answer = client.get("/sound", params={"run": "run", "name": NAME})
    assert answer.status_code == 200 and answer.content == tone().data
    assert answer.headers["content-type"] == "audio/wav"
    assert answer.headers["x-content-type-options"] == "nosniff"
    policy = answer.headers["content-security-policy"].split("; ")
    assert [rule for rule in policy if rule.startswith("media-src")] == ["media-src 'self'"]


@pytest.mark.parametrize("name", ["../run.json", "../../etc/passwd", f"ab/{NAME}", f"{NAME}/", ""])
def test_a_sound_name_cannot_leave_the_run(client: TestClient, name: str) -> None:
    answer = client.get("/sound", params={"run": "run", "name": name})
    assert answer.status_code == 404 and "not a picture name" in answer.json()["error"]


def test_a_file_that_does_not_match_its_sound_name_is_not_served(client: TestClient, runs: Path) -> None:
    store = runs / "run" / "pictures"
    picture = next(store.rglob("*.png")).name
    (store / NAME[:2] / NAME).write_bytes(tone(220).data)
    for name, why in ((NAME, "does not hold what its name says"), (picture, "not a sound"), (LOST, "cannot read")):
        answer = client.get("/sound", params={"run": "run", "name": name})
        assert answer.status_code == 404 and why in answer.json()["error"]


def test_an_episode_describes_its_sounds_and_a_list_counts_them(client: TestClient) -> None:
    asked = {"run": "run", "cell": "maze.direct"}
    told = [
        client.get("/api/episode", params={**asked, "sample": f"maze-0000{n}"}).json()["sounds"] for n in range(3)
    ]
    assert told == [{NAME: "a sound, wav, 8 kB"}, {LOST: "a sound, missing"}, {}]
    cards = client.get("/api/samples", params={"run": "run"}).json()["items"]
    assert [card["sounds"] for card in cards] == [1, 1, 0]


@pytest.mark.parametrize("words", ["wav", ".wav", "sounds", "flac"])
def test_a_search_does_not_find_the_names_of_sounds(client: TestClient, words: str) -> None:
    assert client.get("/api/samples", params={"run": "run", "text": words}).json()["total"] == 0


@pytest.fixture
def page(runs: Path) -> Iterator[Page]:
    with launched() as chromium, serving(runs) as address, window(chromium) as context:
        page = context.new_page()
        page.goto(address)
        yield page


_PLAY = """async (audio) => {
    audio.muted = true;
    await audio.play();
    return [audio.readyState, audio.duration, audio.seekable.end(0)];
}"""


def test_a_sound_is_played_wherever_its_episode_is_shown(page: Page, runs: Path) -> None:
    home = re.match(r"https?://[^/]+", page.url)[0]  # type: ignore[index]
    watch = Watch(page, home)
    page.goto(f"{home}/samples?run=run")
    expect(page.locator(".gallery .card", has_text="1 sound")).to_have_count(2)
    page.locator(".gallery .card").first.click()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/sound?" in request.url else None)
    strip = page.locator(".inputs")
    expect(strip.get_by_text("clip", exact=True)).to_be_visible()
    expect(strip.get_by_text("a sound, wav, 8 kB")).to_be_visible()
    page.get_by_text("Every call with its exact context").click()
    page.get_by_text(re.compile(r"exact context: \d+ parts")).last.click()
    players = page.locator("audio")
    expect(players).to_have_count(3)
    assert not asked, "a sound may be large: it is fetched when it is played"
    for player in players.all():
        ready, duration, seekable = player.evaluate(_PLAY)
        assert ready >= 1 and duration == seekable == pytest.approx(0.25)
    players.first.focus()
    page.keyboard.press("ArrowRight")
    assert "maze-00000" in page.evaluate("location.search"), "the arrow is the player's"
    keep(page, "viewer-sounds")
    page.keyboard.press("j")
    expect(page.locator("#trail [aria-current]")).to_have_text("maze-00001")
    assert not watch.troubles


def test_a_sound_that_cannot_be_played_is_still_named(page: Page) -> None:
    home = re.match(r"https?://[^/]+", page.url)[0]  # type: ignore[index]
    page.goto(f"{home}/episode?run=run&cell=maze.direct&sample=maze-00001")
    strip = page.locator(".inputs")
    expect(strip.get_by_text("a sound, missing", exact=True)).to_be_visible()
    strip.locator("audio").evaluate("(audio) => { audio.play().catch(() => null) }")
    expect(strip.get_by_text("a sound, missing: this browser cannot play it")).to_be_visible()
