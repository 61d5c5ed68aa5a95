"""The viewer's server: who gets in, and what the pages are made of."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sketchmark.comparison import compare
from sketchmark.comparison.leaderboard import leaderboard
from sketchmark.files import PictureStore
from sketchmark.files.jsonl import plain
from sketchmark.folder.records import drawings_right, drawn_names, pack_episode
from sketchmark.view import make_app, query, serving
from sketchmark.view import media as pictures
from tests.comparison.folders import rows, write_run
from tests.view import hostile
from tests.view.making import TOKEN, Maker, browse, fail, play, sample

CONTROLS = ("maze.direct", "maze.visual_cot", "maze.visual_cot.blank")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    maker = Maker(root / "alpha", cells=CONTROLS).fill(60)
    maker.add("maze.visual_cot", fail(sample(60), "visual_cot", "timeout", "the moon fell down"), 60)
    maker.finish()
    Maker(root / "beta", model="player/other").fill(60, seed=9).finish()
    return root


@pytest.fixture
def client(runs: Path) -> Iterator[TestClient]:
    with browse(runs) as client:
        yield client


def ask(client: TestClient, path: str, **parameters: str | int) -> Any:
    answer = client.get(f"/api/{path}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_without_the_token_nothing_is_shown(runs: Path) -> None:
    with TestClient(make_app(runs, TOKEN), base_url="http://127.0.0.1:8000") as stranger:
        for path in ("/", "/api/runs", "/static/app.js", "/picture", "/sound", "/?token=wrong"):
            answer = stranger.get(path)
            assert answer.status_code == 403 and "sketchmark view" in answer.text


def test_the_token_moves_from_the_address_into_a_cookie(runs: Path) -> None:
    with TestClient(make_app(runs, TOKEN), base_url="http://127.0.0.1:8000", follow_redirects=False) as client:
        answer = client.get("/samples", params={"run": "alpha", "token": TOKEN})
        assert answer.status_code == 303 and answer.headers["location"] == "/samples?run=alpha"
        assert "HttpOnly" in answer.headers["set-cookie"] and "sketchmark_8000" in answer.headers["set-cookie"]
        assert client.get("/api/runs").status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8000", ""])
def test_another_name_for_this_machine_is_refused(client: TestClient, host: str) -> None:
    assert client.get("/api/runs", headers={"host": host}).status_code == 421


def test_the_viewer_only_reads(client: TestClient) -> None:
    assert client.post("/api/runs").status_code == 405


@pytest.mark.parametrize("path", ["/", "/api/runs", "/static/app.js", "/api/nothing", "/api/run?run=none"])
def test_every_answer_carries_the_strict_policy(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"


def test_the_front_end_holds_no_inline_script_and_never_writes_markup() -> None:
    static = Path(pictures.__file__).parent / "static"
    shell = (static / "index.html").read_text("utf-8")
    assert "<script>" not in shell and "style=" not in shell and "http" not in shell
    for module in static.glob("*.js"):
        source = module.read_text("utf-8")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert way not in source, f"{module.name} uses {way}"


def test_the_leaderboard_shows_what_the_terminal_prints(client: TestClient, runs: Path) -> None:
    shown = {row["run"]: row["standings"] for row in ask(client, "runs")["runs"]}
    printed = {row.run: plain(row.standings) for row in leaderboard(runs).rows}
    assert shown == printed and {one["n"] for one in shown["alpha"]} == {60}


def test_samples_are_filtered_by_every_field(client: TestClient) -> None:
    every = ask(client, "samples", run="alpha")
    assert every["total"] == 181 and len(every["items"]) == query.PAGE
    assert ask(client, "samples", run="alpha", mode="direct")["total"] == 60
    assert ask(client, "samples", run="alpha", mode="visual_cot", canvas="blank")["total"] == 60
    by_outcome = [
        ask(client, "samples", run="alpha", outcome=kind)["total"]
        for kind in ("right", "partly", "wrong", "unscored")
    ]
    assert sum(by_outcome) == 181 and by_outcome[3] == 1
    helped = ask(client, "samples", run="alpha", change="helped", canvas="own")
    assert helped["total"] == ask(client, "run", run="alpha")["gains"][0]["helped"]
    assert {item["change"] for item in helped["items"]} == {"helped"}
    assert ask(client, "samples", run="alpha", flag="timeout")["items"][0]["sample"] == "maze-00060"
    north = ask(client, "samples", run="alpha", groups="region=north", mode="direct")
    assert north["total"] == 30 and all(item["groups"]["region"] == "north" for item in north["items"])


def test_replies_on_which_scorings_disagree_are_a_filter(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(4)
    maker.finish()
    with browse(tmp_path) as client:
        assert ask(client, "samples", run="run")["facets"]["read"] == {}
        version = ask(client, "version", run="run")["version"]
        maker.finish("blind")
        assert ask(client, "version", run="run")["version"] != version, "a page that is open shows it"
        found = ask(client, "samples", run="run", read="blind", mode="direct")
        assert found["facets"]["read"] == {"blind": 4}
        assert [item["sample"] for item in found["items"]] == ["maze-00001", "maze-00003"]
        assert ask(client, "samples", run="run", read="any")["total"] == 4
        assert ask(client, "samples", run="run", read="nobody")["total"] == 0
        shown = ask(client, "episode", run="run", cell="maze.direct", sample="maze-00001", read="blind")
        (reading,) = shown["readings"]
        assert reading["readings"]["blind"] is None and reading["readings"]["strict"].startswith("<ANSWER_JSON>")
        assert shown["total"] == 4 and shown["position"] == 1
        assert ask(client, "episode", run="run", cell="maze.direct", sample="maze-00000")["readings"] == []
        whole = ask(client, "run", run="run")
        assert [line.partition(":")[0] for line in whole["readings"]] == ["maze.direct", "maze.visual_cot"]
        assert {cell["scoring"] for cell in whole["cells"]} == {"strict"} and whole["cells"][0]["unparsed"] == 0


def test_text_search_finds_words_in_prompts_replies_and_failures_but_not_in_the_format(client: TestClient) -> None:
    assert ask(client, "samples", run="alpha", text="THE MOON fell")["total"] == 1
    assert ask(client, "samples", run="alpha", text="maze-00007")["total"] == 3
    assert ask(client, "samples", run="alpha", text="fingerprint")["total"] == 0
    assert ask(client, "samples", run="alpha", text="précise")["total"] == 0


def test_samples_are_sorted_and_paged(client: TestClient) -> None:
    steps = [i["groups"]["steps"] for i in ask(client, "samples", run="alpha", sort="steps:down")["items"]]
    assert steps == sorted(steps, reverse=True)
    values = [i["value"] for i in ask(client, "samples", run="alpha", mode="direct", sort="score:up")["items"]]
    assert values == sorted(values)
    pages = [ask(client, "samples", run="alpha", page=number) for number in (1, 2, 3, 4, 99)]
    seen = [(item["cell"], item["sample"]) for page in pages[:4] for item in page["items"]]
    assert len(set(seen)) == 181 and pages[4]["page"] == 4


def test_an_episode_has_its_neighbours_in_the_filtered_list(client: TestClient) -> None:
    wrong = [i["sample"] for i in ask(client, "samples", run="alpha", mode="direct", outcome="wrong")["items"]]
    shown = ask(client, "episode", run="alpha", cell="maze.direct", sample=wrong[1], mode="direct", outcome="wrong")
    assert shown["before"] == ["maze.direct", wrong[0]] and shown["after"] == ["maze.direct", wrong[2]]
    assert shown["position"] == 2 and shown["record"]["sample"]["id"] == wrong[1]
    assert [one["cell"] for one in shown["siblings"]] == list(CONTROLS)


def test_two_runs_are_compared_on_the_samples_they_share(client: TestClient) -> None:
    found = ask(client, "compare", a="alpha", b="beta", cell_a="maze.visual_cot")
    assert found["difference"]["n"] == 60 and found["total"] == 60 and found["differs"] == []
    better = ask(client, "compare", a="alpha", b="beta", cell_a="maze.visual_cot", change="helped")
    assert better["total"] == found["difference"]["helped"]


def test_a_cell_missing_in_the_other_run_is_compared_with_another(client: TestClient) -> None:
    found = ask(client, "compare", a="alpha", b="beta", cell_a="maze.visual_cot.blank")
    assert (found["a"]["cell"], found["b"]["cell"]) == ("maze.visual_cot.blank", "maze.direct")


def test_the_page_of_two_cells_corrects_as_compare_does(tmp_path: Path) -> None:
    """Six helped of seven are p 0.031 alone, and nothing clear among several: whichever cells are chosen, the page
    says what the terminal says of the same two."""
    little, much, more = [0] * 7, [1] * 6 + [0], [1] * 7
    modes = {"direct": little, "text_cot": [1, 0, 0, 0, 0, 0, 0], "visual_cot": much, "visual_cot.blank": little}
    for name, changed in (("one", much), ("two", more)):
        cells = {f"{task}.{mode}": rows(scores) for task in ("maze", "sliding") for mode, scores in modes.items()}
        cells["maze.visual_cot"] = rows(changed)
        write_run(tmp_path / name, cells, model=f"player/{name}")
    verdicts = set()
    with browse(tmp_path) as client:

        def shown(a: str, cell_a: str, b: str, cell_b: str) -> tuple[Any, str]:
            found = ask(client, "compare", a=a, b=b, cell_a=cell_a, cell_b=cell_b)["difference"]
            assert found["p"] is not None
            return found.get("p_holm"), found["verdict"]

        for chosen in (["one"], ["two"], ["one", "two"]):
            told = compare([tmp_path / name for name in chosen])
            for row in told.rows:
                if row.before.run != row.after.run or len(chosen) == 1:
                    before, after = (row.before.run, row.before.cell), (row.after.run, row.after.cell)
                    assert shown(*before, *after) == (row.p_holm, row.verdict)
                    opposite = {"better": "worse", "worse": "better"}.get(row.verdict, row.verdict)
                    assert shown(*after, *before) == (row.p_holm, opposite)
                    verdicts.add((row.verdict, (row.difference.p or 1) < 0.05))
            for table in told.canvases if len(chosen) == 1 else ():
                blank = next(one for one in table.scores if one.canvas == "blank")
                cells_shown = f"{table.task}.visual_cot.blank", f"{table.task}.visual_cot"
                pair = shown(chosen[0], cells_shown[0], chosen[0], cells_shown[1])
                assert pair == (blank.p_holm, blank.verdict)
        for gain in ask(client, "run", run="one")["gains"]:
            cell = f"{gain['task']}.{gain['mode']}" + (".blank" if gain["canvas"] == "blank" else "")
            assert shown("one", f"{gain['task']}.direct", "one", cell) == (gain["p_holm"], gain["verdict"])
        assert shown("one", "maze.direct", "two", "maze.visual_cot") == (None, "unclear"), "compare has no such row"
    assert ("unclear", True) in verdicts, "the correction decides"


def test_a_wrong_drawing_is_described_cell_by_cell(client: TestClient) -> None:
    for item in ask(client, "samples", run="alpha", mode="visual_cot", canvas="own", outcome="wrong")["items"]:
        frames = ask(client, "episode", run="alpha", cell=item["cell"], sample=item["sample"])["frames"]
        if frames and frames[-1]["drawn"] != frames[-1]["true"]:
            break
    found = frames[-1]
    assert frames[0]["right"] and all("words" not in frame for frame in frames if frame["right"])
    assert found["right"] is False and found["differs"] and found["kind"] == "cells" and len(found["boxes"]) == 2
    assert all(0 <= end <= 1 for box in found["boxes"] for end in box)
    assert re.match(r"2 of 25 cells differ \(row \d, column \d: (agent|goal|floor)", found["words"])
    asked = {"run": "alpha", "cell": item["cell"], "sample": item["sample"]}
    overlay = client.get("/overlay", params={**asked, "drawn": found["drawn"], "true": found["true"]})
    assert overlay.headers["content-type"] == "image/png"


def test_a_drawing_without_a_verdict_is_not_called_wrong() -> None:
    """A real model's drawing is never the ground truth pixel by pixel; only the scorer knows whether it is right."""
    line = pack_episode(play(sample(3), "visual_cot", False), 0, PictureStore.name_of)
    drawn, true = drawn_names(line), line.sample.frames or []
    assert drawn[0] == true[0] and drawn[-1] != true[-1]
    known = drawings_right(line, {})
    assert known[0] is True and known[-1] is None
    assert drawings_right(line, {"frames_right": [False, True]})[:2] == [False, True]
    assert drawings_right(line, {"frames_right": "odd"}) == known


def test_a_change_of_condition_keeps_the_place_in_the_list(client: TestClient) -> None:
    """`m` opens a cell that the filter does not list: next and previous still work, in that cell."""
    chosen = {"run": "alpha", "mode": "visual_cot", "canvas": "own", "change": "helped"}
    helped = [item["sample"] for item in ask(client, "samples", **chosen)["items"]]
    shown = ask(client, "episode", cell="maze.direct", sample=helped[1], **chosen)
    assert shown["position"] == 2
    assert shown["before"] == ["maze.direct", helped[0]] and shown["after"] == ["maze.direct", helped[2]]


def test_the_gallery_has_strips_both_answers_and_counts_in_the_order_helped_hurt_same(client: TestClient) -> None:
    found = ask(client, "samples", run="alpha", mode="visual_cot", canvas="own", sort="change")
    order = {"helped": 0, "hurt": 1, "same": 2, None: 3}
    changes = [order[item["change"]] for item in found["items"]]
    assert changes == sorted(changes) and len(set(changes)) > 1
    gain = ask(client, "run", run="alpha")["gains"][0]
    assert {kind: found["counts"][kind] for kind in ("helped", "hurt")} == {k: gain[k] for k in ("helped", "hurt")}
    assert found["counts"]["right"] + found["counts"]["wrong"] == gain["same"]
    first = found["items"][0]
    assert first["strip"] and first["direct"]["cell"] == "maze.direct" and first["direct"]["outcome"] == "wrong"
    narrowed = ask(client, "samples", run="alpha", mode="visual_cot", canvas="own", change="hurt")
    assert narrowed["counts"] == found["counts"] and narrowed["all"] == found["all"]


def test_compare_opens_on_direct_against_drawn_with_changed_samples_first(client: TestClient) -> None:
    found = ask(client, "compare", a="alpha", b="alpha")
    assert (found["a"]["cell"], found["b"]["cell"]) == ("maze.direct", "maze.visual_cot")
    order = ["hurt", "helped", "same", None]
    places = [order.index(pair["change"]) for pair in found["pairs"]]
    assert places == sorted(places) and places[0] < 2
    assert found["counts"]["helped"] == found["difference"]["helped"] and found["family"] == 1
    changed = ask(client, "compare", a="alpha", b="alpha", change="changed")
    assert changed["total"] == found["difference"]["helped"] + found["difference"]["hurt"]
    assert ask(client, "compare", a="alpha", b="beta")["b"]["cell"] == "maze.visual_cot"


def test_several_runs_are_compared_at_once(client: TestClient) -> None:
    found = ask(client, "several", r1="alpha", r2="beta", r3="alpha")
    assert [run["run"] for run in found["runs"]] == ["alpha", "beta"] and found["cell"] == "maze.visual_cot"
    assert found["shared"] == 60 and 0 < found["disagreed"] < 60
    assert len(set(found["matrix"][0]["outcomes"])) == 2 and "maze" in found["forest"]["wide"]
    assert client.get("/api/several").status_code == 404


def test_a_run_opens_with_its_sentence_and_a_chart(client: TestClient) -> None:
    found = ask(client, "run", run="alpha")
    assert found["story"]["headline"].startswith("Drawing helped on maze. With a blank image in place of its drawing")
    assert "+" in found["story"]["lede"] and "own drawing" in found["story"]["controls"]
    for chart in (*found["scores_chart"].values(), found["saved_chart"]):
        assert 'role="img"' in chart and "maze: Answers directly" in chart
    assert "var(--own)" in found["scores_chart"]["wide"] and "#2457c5" in found["saved_chart"]
    assert [strip["change"] for strip in found["strips"]] == ["helped", "hurt"]


def test_ties_are_ordered_by_model_then_run(tmp_path: Path) -> None:
    for name, model in (("b", "player/x"), ("a", "player/x"), ("c", "player/a")):
        Maker(tmp_path / name, model=model).fill(2).finish()
    with browse(tmp_path) as client:
        assert [row["run"] for row in ask(client, "runs")["runs"]] == ["c", "a", "b"]
    assert [row.run for row in leaderboard(tmp_path).rows] == ["c", "a", "b"]


@pytest.mark.parametrize("name", ["../run.json", "../../etc/passwd", "ab/../../run.json", ""])
def test_a_picture_name_cannot_leave_the_run(client: TestClient, name: str) -> None:
    for path in ("/picture", "/thumbnail"):
        answer = client.get(path, params={"run": "alpha", "name": name})
        assert answer.status_code == 404 and "picture name" in answer.json()["error"]


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd"])
def test_static_files_outside_their_folder_are_refused(runs: Path, path: str) -> None:
    with serving(runs) as address:
        port, token = re.findall(r":(\d+)/\?token=(.+)", address)[0]
        connection = http.client.HTTPConnection("127.0.0.1", int(port))
        connection.request("GET", path, headers={"Cookie": f"sketchmark_{port}={token}"})
        assert connection.getresponse().status == 404


def test_a_file_that_does_not_match_its_picture_name_is_not_shown(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(1)
    name = next(maker.folder.pictures.folder.rglob("*.png"))
    name.write_bytes(b"\x89PNG\r\n\x1a\n<script>")
    with browse(tmp_path) as client:
        answer = client.get("/picture", params={"run": "run", "name": name.name})
        assert answer.status_code == 404 and "does not hold what its name says" in answer.json()["error"]


def test_a_malformed_transcript_is_an_error_message(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(1)
    path = maker.folder.episodes_file("maze.direct")
    path.write_bytes(b'{"index":0,"sample":{"id":"maze-00000","pictures":7},"turns":null,"failure":3}\n')
    with browse(tmp_path) as client:
        for asked in ("samples?run=run", "episode?run=run&cell=maze.direct&sample=none", "samples?run=run&text=x"):
            answer = client.get(f"/api/{asked}")
            assert answer.status_code in (404, 500) and "error" in answer.json()


def test_an_untrusted_report_is_served_in_a_sandbox(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(1)
    (maker.folder.path / "report.html").write_text(hostile.SCRIPT)
    with browse(tmp_path) as client:
        policy = client.get("/report", params={"run": "run"}).headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'") and "script" not in policy


def test_a_report_that_is_a_link_is_not_served(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(1)
    (tmp_path / "secret").write_text("secret")
    (maker.folder.path / "report.html").symlink_to(tmp_path / "secret")
    with browse(tmp_path) as client:
        assert client.get("/report", params={"run": "run"}).status_code == 404
        assert client.get("/api/run", params={"run": "run"}).json()["has_report"] is False


def test_thumbnails_are_cached_up_to_the_budget(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(6)
    names = [path.name for path in maker.folder.pictures.folder.rglob("*.png")]
    thumbnails = pictures.Thumbnails(budget=4_000)
    first = thumbnails.get(maker.folder, names[0], 320)
    assert thumbnails.get(maker.folder, names[0], 320) is first
    for name in names[1:]:
        thumbnails.get(maker.folder, name, 320)
    assert thumbnails.get(maker.folder, names[0], 320) is not first
