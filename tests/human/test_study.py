"""A study: many people at once in real browsers, their runs and the group's, and what is refused."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

import sketchmark
from sketchmark.cli import main
from sketchmark.comparison import compare
from sketchmark.folder import RunFolder
from sketchmark.human.group import EVERYONE
from sketchmark.human.study import PEOPLE, Enrolled, Study
from sketchmark.worlds.maze import board as maze
from tests.human.playing import Playing, at, playing, press, reply, shown_maze, solution, stamp_step
from tests.tabled import tabled
from tests.view.browsing import Watch, keep, launched, window

FILE = Path(__file__).with_name("study.yaml")
TOKEN = "a-token-of-some-length"
WORDS = ("--study", str(FILE), "--hosted", "--token-env", "STUDY_TOKEN")
ROOT = "runs/pilot"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with launched() as chromium:
        yield chromium


def open_study(context: BrowserContext, game: Playing, pid: str) -> tuple[Page, Watch]:
    page = context.new_page()
    watch = Watch(page, game.address)
    page.goto(f"{game.address}?token={TOKEN}&PROLIFIC_PID={pid}&STUDY_ID=s1&SESSION_ID=x1")
    expect(page.get_by_role("heading", level=1)).to_have_text("Puzzles for people and models")
    return page, watch


def begin(page: Page, *, consented: bool = False) -> None:
    if not consented:
        press(page, "I agree and take part")
    expect(page.get_by_text("without help from other people")).to_be_visible()
    assert "PROLIFIC" not in page.url
    press(page, "Start")


def step(page: Page, *, right: bool = True, word: str = "blue") -> bool:
    """Do one page, whatever it is; practice always right. Return whether it was the last."""
    page.locator("#view:not(.waiting) :is(.sheet, .desk)").first.wait_for()
    kind = page.locator("body").get_attribute("data-kind")
    right = right or page.locator("#progress").inner_text().startswith("Practice")
    before = page.evaluate("document.querySelector('#view').firstElementChild.dataset.page")
    if kind == "end":
        return True
    if kind == "check":
        page.get_by_role("textbox").fill(word)
        press(page, "Continue")
    elif kind == "feedback":
        press(page, "Continue")
    elif page.locator("canvas.surface").count():
        puzzle = shown_maze(page, last=True)
        said = page.locator(".part.you").last.inner_text()
        move = re.findall("up|down|left|right", said)[-1]
        stamp_step(page, puzzle.start, maze.step(puzzle, puzzle.start, move), "mouse")
        press(page, "Send drawing")
    else:
        drawn = page.locator(".part.you img").count()
        moves = maze.solve(shown_maze(page)) or []
        plan = page.get_by_label("Your reply").count()
        text = f"Next, move one step {moves[drawn]}." if plan else solution(moves if right else ["up"] * 9)
        reply(page, text, "Send" if plan else "Send answer")
    expect(page.locator(f"#view > [data-page='{before}']")).to_have_count(0)
    return False


@pytest.mark.slow
def test_two_people_take_part_at_once_and_their_runs_compare_with_a_players(
    chromium: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        playing(tmp_path, *WORDS, variables={"STUDY_TOKEN": TOKEN}) as game,
        window(chromium) as one,
        window(chromium, 390) as two,
        window(chromium) as three,
        window(chromium) as four,
    ):
        ann, bob, eve = (open_study(each, game, pid) for each, pid in ((one, "ann"), (two, "bob"), (three, "eve")))
        keep(ann[0], "study-consent")
        press(eve[0], "I do not take part")
        expect(eve[0].get_by_text("N0CODE")).to_be_visible()
        for page, _ in (ann, bob):
            begin(page)
        at(ann[0], "Practice 1 of 2")
        over = [False, False]
        for turn in range(80):  # the two take turns, page by page
            for number, (page, _) in enumerate((ann, bob)):
                if not over[number]:
                    over[number] = step(page, right=number == 0)
            if turn == 5:
                bob[0].reload()
            if all(over):
                break
        assert all(over)
        for page, watch in (ann, bob):
            expect(page.get_by_text("C0DE42")).to_be_visible()
            link = page.get_by_role("link", name="Report that you are done")
            assert link.get_attribute("href") == "https://app.prolific.com/submissions/complete?cc=C0DE42"
            assert not watch.troubles
        keep(ann[0], "study-end")
        again, _ = open_study(four, game, "ann")
        press(again, "I agree and take part")
        expect(again.get_by_role("alert")).to_contain_text("You have begun in another browser")
        begun = open_study(three, game, "dan")[0]
        begin(begun)
        while not step(begun, word="red"):
            pass
        expect(begun.get_by_text("C0DE42")).to_be_visible()
    root = tmp_path / ROOT
    record = json.loads((root / "study.json").read_text())
    assert (len(record["people"]), record["refused"]) == (3, 1)
    assert "ann" not in json.dumps(record) and len(record["people"][0]["ids"]) == 3
    people = [RunFolder(root / PEOPLE / one["id"]) for one in record["people"]]
    for folder in people:
        cells = {cell: set(folder.scored(cell)) for cell in folder.about().cells}
        assert {len(ids) for ids in cells.values()} == {2}
        assert not cells["maze.direct"] & cells["maze.visual_cot"]
    first, second = (set(folder.scored("maze.direct")) for folder in people[:2])
    assert not first & second  # the next person gets the other mode
    group = RunFolder(root / "group")
    assert group.about().model.name == "human/pilot"
    results = group.results()
    assert {cell.metrics[cell.headline].method for cell in results.tasks.values()} == {"two-way"}
    assert results.tasks["maze.direct"].metrics["maze_text_exact"].n == 4
    drawn = {row.values["maze_img_exact"] for row in group.scored("maze.visual_cot").values()}
    assert drawn == {1}
    assert {row.groups["person"] for row in group.scored("maze.direct").values()} == {
        one["id"] for one in record["people"][:2]
    }
    notes = json.loads((root / "group" / "group.json").read_text())
    assert list(notes["excluded"].values()) == [["checks_failed: 1"]] and notes["everyone"]
    assert len(RunFolder(root / EVERYONE).scored("maze.direct")) == 6
    with (root / "trials.csv").open() as file:
        trials = list(csv.DictReader(file))
    assert len(trials) == 12 and sum(bool(one["excluded"]) for one in trials) == 4
    assert all(int(one["rt"]) > 0 for one in trials)

    solver = tmp_path / "solver"
    options = {"mode": "direct,visual_cot", "limit": 4, "task_args": "min_steps=2,max_steps=2"}
    sketchmark.run("player/solver", "maze", output_path=solver, quiet=True, no_cache=True, **options)  # type: ignore[arg-type]
    rows = [row for row in compare(group.path, solver).rows if row.kind == "runs"]
    assert [row.after.model for row in rows] == ["player/solver"] * 2
    assert all(row.difference.n == 4 and row.difference.method == "two-way" for row in rows)
    assert all(compare(folder.path, solver).rows for folder in people)

    with pytest.raises(SystemExit):
        main(["card", str(group.path)])
    card = capsys.readouterr().out
    for line in (
        "| Recruitment | people | 3 enrolled, 3 finished, 2 here |",
        "| Recruitment | population | browsers that tests drive |",
        "| Design | consent | text with SHA-256 " + record["consent"] + "; 1 did not consent |",
        "| Execution | attention checks | 1 per person, 1 failed in all |",
        "| Analysis | exclusion rules | checks\\_failed 1, unfinished True |",
        "| Design | answers per sample | 2.0 on average |",
    ):
        assert line in card, line


def test_every_sample_is_given_equally_often_in_each_mode_and_never_twice_to_one_person(tmp_path: Path) -> None:
    text = FILE.read_text().replace("limit: 4", "limit: 5\nsamples_per_person: 4")
    file = tmp_path / "study.yaml"
    file.write_text(text)
    study = Study(file, tmp_path / "study")
    given: Counter[tuple[tuple[str, int], str]] = Counter()
    for number in range(5 * 2):
        mine = study.assigned(number)
        assert len(mine) == 4
        given.update(mine.items())
    assert set(given.values()) == {4} and len(given) == 5 * 2


def test_a_study_file_is_fixed_by_its_first_person(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(FILE.read_text())
    study = Study(file, tmp_path / "study")
    study.write()
    file.write_text(FILE.read_text().replace("checks_failed: 1", "checks_failed: 2"))
    study = Study(file, tmp_path / "study")  # no person yet
    person = study.admit("p-0123456789ab", {"PROLIFIC_PID": "secret-id", "other": "x"})
    assert "secret-id" not in (tmp_path / "study/study.json").read_text() and set(person.ids) == {"PROLIFIC_PID"}
    assert Study(file, tmp_path / "study").enrolled(person.id) == person
    file.write_text(FILE.read_text())
    with pytest.raises(SystemExit) as ended:
        main(["play", "--study", str(file), "--out", str(tmp_path / "study")])
    assert ended.value.code == 2
    assert "was changed after the first person took part" in capsys.readouterr().err


@tabled
def test_what_a_study_cannot_do_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHORT", "short")
    (tmp_path / "bad.yaml").write_text(FILE.read_text() + "prompt: mine\n")
    named = {"FILE": str(FILE), "BAD": "bad.yaml"}
    with pytest.raises(SystemExit) as ended:
        main(["play", *(named.get(word, word) for word in words)])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert told in error and "Traceback" not in error


@pytest.mark.slow
def test_nobody_enters_without_the_token_or_reads_anothers_page_and_a_person_is_forgotten(tmp_path: Path) -> None:
    with playing(tmp_path, *WORDS, variables={"STUDY_TOKEN": TOKEN}) as game:
        assert httpx.get(f"{game.address}api/page").status_code == 403
        assert httpx.get(game.address, params={"token": "wrong"}).status_code == 403
        with (
            httpx.Client(base_url=game.address, follow_redirects=True, timeout=30) as one,
            httpx.Client(base_url=game.address, follow_redirects=True, timeout=30) as two,
        ):
            for client in (one, two):
                client.get("/", params={"token": TOKEN})
            assert one.post("/api/reply?number=1", json={"act": "next"}).status_code == 403
            page = one.post("/api/enrol", json={"agree": True, "address": {"PROLIFIC_PID": "a" * 5000}}).json()
            assert page["kind"] == "start"
            assert one.post("/api/enrol", json={"agree": True}).status_code == 400
            assert two.get("/api/page").json()["kind"] == "consent"
            two.cookies.set("sketchmark_person", "guess")
            assert two.get("/api/page").json()["kind"] == "consent"
    study = Study(FILE, tmp_path / ROOT)
    (person,) = study.record.people
    assert isinstance(person, Enrolled) and (tmp_path / ROOT / PEOPLE / person.id).is_dir()
    with pytest.raises(SystemExit) as ended:
        main(["play", "--study", str(FILE), "--out", str(tmp_path / ROOT), "--forget", person.id])
    assert ended.value.code == 0
    assert not (tmp_path / ROOT / PEOPLE / person.id).exists()
    assert Study(FILE, tmp_path / ROOT).record.people == []
