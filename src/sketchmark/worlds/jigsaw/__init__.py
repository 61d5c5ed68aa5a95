"""Jigsaws: the world, its protocol (a drawing per candidate), its scores and its scripted players.

Scores published by Uni-MMMU (docs/benchmarks/uni-mmmu.md, "Picture scores"): `jigsaw_text_acc`, and with `+dreamsim`
`jigsaw_img_dreamsim`. Its learned distance (arXiv 2306.09344) needs torch and downloaded weights, so it is an extra.
Ours, without weights: `jigsaw_img_similarity`. Drawings are scored only if the episode was asked to draw. RA and AL
without a judge: `answer_as_drawn` says whether the answer is the candidate that looks better in the two drawings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from sketchmark.engines import patient
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.desk import Desk
from sketchmark.episode.protocol import FilledPrompts, Protocol
from sketchmark.episode.sample import Context, Sample
from sketchmark.errors import BadInput, MissingExtra
from sketchmark.media import Picture
from sketchmark.worlds import (
    LEVELS,
    MIXED,
    Add,
    Argument,
    Making,
    Play,
    World,
    check_level,
    disk,
    look_in_turn,
    moves,
    numbered_drafts,
)
from sketchmark.worlds.jigsaw import paint
from sketchmark.worlds.jigsaw import panels as jigsaw
from sketchmark.worlds.moves import DREAMSIM, FOLLOWS, STRICT, rules, shown
from sketchmark.worlds.play import labelled, tagged_choice, wanted


def distance(one: Picture, two: Picture) -> float:
    """0: the same to the eye."""
    torch, model, prepare = _loaded()
    with torch.no_grad():
        return float(model(prepare(one.image()), prepare(two.image())).item())


@cache
def _loaded() -> tuple[Any, Any, Any]:
    try:
        torch, package = import_module("torch"), import_module("dreamsim")
    except ImportError as error:
        raise MissingExtra("the DreamSim metric", "dreamsim") from error
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, preprocess = package.dreamsim(pretrained=True, device=device)
    return torch, model, lambda image: preprocess(image).to(device)


async def _complete_both(desk: Desk, prompts: FilledPrompts) -> None:
    """Jigsaw: complete the panel with each candidate, then choose."""
    desk.show(*prompts.parts())
    for i in (0, 1):
        await desk.draw(prompts.text(f"complete_{i}"), label=prompts.text("completed", i=i))
    await desk.say(prompts.text("final"))


candidates_then_answer = Protocol(_complete_both, draws=lambda prompts: 2, must_draw=True)


def samples(
    *,
    seed: int,
    data: Path | None,
    difficulty: str = "medium",
    folder: str = "",
    level: int = 0,
    look: str = MIXED,
    size: int = jigsaw.SIZE,
) -> Iterator[Sample]:
    """Yield samples. With a level they have the printed looks in turn, without one the painted look."""
    if level:
        check_level("jigsaw", level)
    look_in_turn("jigsaw", jigsaw.LOOKS, look, 0)  # refuses an unknown one
    if folder and look != MIXED:
        raise BadInput("images of your own have no look", "give either a folder or a look")
    pictures = Path(folder) if folder else None
    looks = jigsaw.LOOKS if look != MIXED else jigsaw.PRINTED if level and not folder else (jigsaw.PAINTED,)

    def make(id: str, number: int, own_seed: int) -> Sample:
        seen = look_in_turn("jigsaw", looks, look, number)
        puzzle = jigsaw.generate(own_seed, difficulty, pictures, size, level, seen)
        groups: dict[str, str | int] = {"level": level} if level else {"difficulty": difficulty}
        groups |= {"look": seen} if len(looks) > 1 else {}
        return Sample(
            id=id,
            pictures={"ref": puzzle.ref, "cand0": puzzle.candidates[0], "cand1": puzzle.candidates[1]},
            fields={"puzzle": seams_as_text(puzzle)},
            target={"label": puzzle.label},
            groups={"wrong_kind": puzzle.wrong_kind, **groups},
            steps=2,
            frames=partial(jigsaw.frames, puzzle),
        )

    made = numbered_drafts("jigsaw", seed, make)
    return (sample for sample in made) if folder else made  # a folder may change under a run: each is compared


def seams_as_text(puzzle: jigsaw.Jigsaw) -> str:
    """Write the colours on both sides of the seams for the mode text_input, each the mean of a few pixels."""
    panel = puzzle.ref.values
    top, left = panel.shape[0] // 2, panel.shape[1] // 2
    lines = [_neighbours(panel)]
    for number, candidate in enumerate(puzzle.candidates):
        patch = jigsaw.sized(candidate, (panel.shape[1] - left, panel.shape[0] - top))
        lines.append((f"CANDIDATE_{number}", patch[:, 0], patch[0]))
    return _written(lines)


def panel_as_text(picture: Picture) -> str | None:
    """Write the colours next to the hidden cell as `seams_as_text` does; None if no cell is hidden."""
    panel = picture.values
    top, left = panel.shape[0] // 2, panel.shape[1] // 2
    inside = panel[top + top // 8 : -top // 8, left + left // 8 : -left // 8].astype(float)
    is_hidden = inside.size and abs(inside - jigsaw.HIDDEN).mean() <= 12
    return _written([_neighbours(panel)]) if is_hidden else None


def _neighbours(panel: jigsaw.Pixels) -> tuple[str, jigsaw.Pixels, jigsaw.Pixels]:
    top, left = panel.shape[0] // 2, panel.shape[1] // 2
    return "NEIGHBOURS", panel[top:, left - 1], panel[top - 1, left:]


def _written(seams: list[tuple[str, jigsaw.Pixels, jigsaw.Pixels]]) -> str:
    return "\n".join(
        f"{name} {side}: {paint.codes_of(edge)}"
        for name, *edges in seams
        for side, edge in zip(_SIDES, edges, strict=True)
    )


_SIDES = ("left seam, top to bottom", "upper seam, left to right")
_SEAM = re.compile(r"^(\w+) (?:left|upper) seam, .*?: ((?:#[0-9a-f]{6} ?)+)$", re.MULTILINE)


def better_in_text(text: str) -> int | None:
    """Return the candidate whose colours continue the neighbours', in what `seams_as_text` wrote; None without it."""
    seams: dict[str, list[int]] = {}
    for name, colours in _SEAM.findall(text):
        seams.setdefault(name, []).extend(bytes.fromhex(colours.replace("#", "")))
    if {len(of) for of in seams.values()} != {len(seams.get("NEIGHBOURS", ()))} or len(seams) != 3:
        return None
    around, *candidates = (seams[name] for name in ("NEIGHBOURS", "CANDIDATE_0", "CANDIDATE_1"))
    return _least(sum(abs(a - b) for a, b in zip(around, of, strict=True)) for of in candidates)


class JigsawPlay(Play):
    """The solver compares seams in its head; the sketcher only in its own drawings, and tosses a coin without."""

    def answer(self, context: Context) -> str | None:
        pieces = _pieces(context)
        if pieces is None:
            return self._from_text(context)
        better = _better_fitting(pieces)
        if wanted(context) == "describe":
            return f"The seams {'run on' if _asked_candidate(context) == better else 'break'} at the inner edges."
        return tagged_choice(better, "its seams run on across both inner edges")

    def _from_text(self, context: Context, wrong: bool = False) -> str | None:
        """Answer a puzzle of the mode text_input."""
        better = next((found for text in context.texts if (found := better_in_text(text)) is not None), None)
        return None if better is None else tagged_choice(1 - better if wrong else better, "its colors run on")

    def draw(self, context: Context) -> Picture | None:
        return self._completed(context, other=False)

    def guess(self, context: Context, rng: Random) -> str:
        return tagged_choice(rng.randint(0, 1), "chosen at random")

    def glance(self, context: Context, lookahead: int, seed: int) -> str | None:
        pieces = _pieces(context)
        if pieces is None:
            return None
        if wanted(context) == "describe":
            return "I see both patches, but I cannot picture them in place."
        better = _better_drawn(context, pieces[0])
        if better is not None:
            return tagged_choice(better, "in my drawing its seams run on")
        return tagged_choice(Random(int(pieces[1].identity[:12], 16) + seed).randrange(2), "at a glance both fit")

    def sketch(self, context: Context, shaky: bool, rng: Random) -> Picture | None:
        return self._completed(context, other=shaky)

    def conclude(self, context: Context, by_drawings: bool, wrong: bool) -> str | None:
        pieces = _pieces(context)
        if pieces is None:
            return None if by_drawings else self._from_text(context, wrong)
        better = _better_drawn(context, pieces[0]) if by_drawings else _better_fitting(pieces)
        return None if better is None else tagged_choice(1 - better if wrong else better, "it seems to fit")

    def misdraw(self, context: Context) -> Picture | None:
        return self._completed(context, other=True)

    def _completed(self, context: Context, other: bool) -> Picture | None:
        """The reference with the candidate that is asked for, or with the other one."""
        pieces, candidate = _pieces(context), _asked_candidate(context)
        return jigsaw.complete(pieces[0], pieces[1 + (1 - candidate if other else candidate)]) if pieces else None


def _pieces(context: Context) -> tuple[Picture, Picture, Picture] | None:
    """Reference and candidates, by their labels."""
    reference = labelled(context, "REFERENCE_2x2:")
    candidates = [labelled(context, f"CANDIDATE_{i}:") for i in (0, 1)]
    if reference is None or candidates[0] is None or candidates[1] is None:
        return None
    return reference, candidates[0], candidates[1]


def _better_fitting(pieces: tuple[Picture, Picture, Picture]) -> int:
    return _least(jigsaw.seam_cost_with(pieces[0], candidate) for candidate in pieces[1:])


def _least(costs: Iterable[float]) -> int:
    return int(np.argmin(list(costs)))


def _better_drawn(context: Context, reference: Picture) -> int | None:
    drawn = [labelled(context, f"COMPLETED WITH CANDIDATE {i}:") for i in (0, 1)]
    return better_shown([picture for picture in drawn if picture], reference)


def _asked_candidate(context: Context) -> int:
    found = re.search(r"Candidate (\d)", context.texts[-1])
    return int(found[1]) if found and found[1] in "01" else 0


def _corrupt(sample: Sample) -> list[Picture]:
    """Each panel is filled with the other candidate, so that the wrong one seems to fit."""
    return sample.frames()[::-1] if sample.frames and "ref" in sample.pictures else []


def _caption(sample: Sample, drawing: Picture) -> str:
    if not _belongs(drawing, disk.picture_of(sample, "ref")):
        return "The drawing does not show the panel with one cell filled in."
    return (
        "The drawing shows the panel with its bottom-right cell filled in. Across the two inner edges of that cell "
        f"the colors change by {jigsaw.seam_cost(drawing):.1f} of 255 on average."
    )


def better_shown(completed: Sequence[Picture], reference: Picture) -> int | None:
    """Which of two completions runs on more smoothly; None unless both show this panel."""
    if len(completed) != 2 or not all(_belongs(picture, reference) for picture in completed):
        return None
    return _least(map(jigsaw.seam_cost, completed))


def _belongs(completed: Picture, reference: Picture) -> bool:
    """Does a completed panel show this puzzle? Its upper half must look like the reference's."""
    if completed.size != reference.size:
        return False
    half = reference.size[1] // 2
    mine, its = (picture.values[:half].astype(np.int16) for picture in (completed, reference))
    return bool(np.abs(mine - its).mean() < 8)


def _claims(target: Mapping[str, Any]) -> bool:
    return set(target) == {"label"} and target["label"] in (0, 1)


@contextmanager
def _folder(out: Path) -> Iterator[Add]:
    """The jigsaws of the published `data.tar`. Paths in the index file are relative to `out`."""
    root = "jigsaw_dataset_2x2ref"
    disk.refuse_existing(out / root)
    with disk.index(out / root / "metadata.json") as enter:

        def add(number: int, sample: Sample) -> None:
            name, label = f"{root}/{number:05d}", sample.target["label"]
            frames, candidates = disk.frames_of(sample), [disk.picture_of(sample, f"cand{i}") for i in (0, 1)]
            ref = disk.save(out, f"{name}/ref.png", disk.picture_of(sample, "ref"))
            enter(
                id=f"{number:05d}",
                label=label,
                ref_panel={"ref_image_path": ref},
                candidate_paths=disk.save_steps(out, f"{name}/cand{{}}.png", candidates),
                gt_completed_2x2_path=disk.save(out, f"{name}/gt_completed.png", frames[label]),
                gt_wrong_2x2_path=disk.save(out, f"{name}/gt_wrong.png", frames[1 - label]),
            )

        yield add


_SAME = 0.95
"""Least similarity of a drawing and a completion to count as a completed panel."""


@patient(600)  # DreamSim loads its weights
def score(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`jigsaw_img_similarity` is our weight-free measure of the two drawn completions, `jigsaw_img_dreamsim` the
    published one (1 - mean distance). Both give nothing for anything but exactly two drawings."""
    chosen = rules(grading)
    answer = moves.strict_choice(episode.answer) if chosen == STRICT else moves.tagged_choice(episode.answer, chosen)
    label = int(sample.target["label"])
    values: dict[str, float | None] = {"jigsaw_text_acc": float(answer == label)}
    notes: dict[str, Any] = {"answer": answer, "expected": label}
    values |= _followed_choice(sample, episode, answer)
    if moves.echoes_template(episode.answer):
        notes["echo"] = "the prompt's own template was repeated"
    if episode.draw_attempts:
        pairs = _pairs(sample, episode)
        likeness = [
            0.0 if moves.is_refused(drawn, grading) else jigsaw.similarity(true, drawn) for true, drawn in pairs
        ]
        values["jigsaw_img_similarity"] = sum(likeness) / 2
        notes["frames_right"] = [
            not moves.is_refused(drawn, grading) and jigsaw.shows(drawn, true, other)
            for (true, drawn), (other, _) in zip(pairs, pairs[::-1], strict=True)
        ] or [False, False]
        if grading.scoring.endswith(DREAMSIM):
            values["jigsaw_img_dreamsim"] = 1 - sum(distance(*pair) for pair in pairs) / 2 if pairs else 0.0
    return Scores(values, notes, unparsed=answer is None)


def score_drawings(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    if not episode.drawings:
        return Scores({})
    found = score(sample, episode, Grading())
    right = found.notes["frames_right"]
    answer = found.notes["answer"]
    better = _better_looking(episode.drawings, sample.frames() if sample.frames else [])
    agrees = float(answer == better) if answer is not None and better is not None else None
    notes = {"drawn": better, "answer": answer}
    return Scores({"drawing_right": sum(right) / len(right), "answer_as_drawn": agrees}, notes)


def _followed_choice(sample: Sample, episode: Episode, answer: int | None) -> dict[str, Any]:
    """`{}` unless the canvas is corrupt."""
    if episode.settings.get("canvas") != "corrupt":
        return {}
    implied = better_shown(shown(episode), disk.picture_of(sample, "ref"))
    if implied is None or implied == int(sample.target["label"]):
        return {FOLLOWS: None}
    return {FOLLOWS: float(answer == implied)}


def _pairs(sample: Sample, episode: Episode) -> list[tuple[Picture, Picture]]:
    """(true, drawn) completions; none unless exactly two were drawn."""
    if len(episode.drawings) != 2 or not sample.frames:
        return []
    return list(zip(sample.frames(), episode.drawings, strict=True))


def _better_looking(drawn: Sequence[Picture], true: Sequence[Picture]) -> int | None:
    """Which of two drawn completions runs on more smoothly; None unless both show the panel completed."""
    if len(drawn) != 2 or not true:
        return None
    if any(max(jigsaw.similarity(one, picture) for one in true) < _SAME for picture in drawn):
        return None
    return _least(map(jigsaw.seam_cost, drawn))


WORLD = World(
    name="jigsaw",
    about=jigsaw.__doc__ or "",
    told_by=("2×2 reference image", "2x2 reference image"),
    play=JigsawPlay(),
    making=Making(
        about="Jigsaws of 2x2 cells with one right and one plausible wrong patch.",
        samples=samples,
        arguments=(
            Argument("difficulty", "medium", "How alike.", among=tuple(jigsaw.WRONG_KINDS)),
            Argument("level", 0, "How alike, 1 to 5; 0: as the difficulty says."),
            Argument(
                "look", MIXED, "Look; mixed: the prints in turn, without a level painted.", (*jigsaw.LOOKS, MIXED)
            ),
            Argument("size", jigsaw.SIZE, "Pixels a side."),
            Argument("folder", "", "Folder of your own pictures to cut up.", option="pictures", is_folder=True),
        ),
        pictures=("ref", "cand0", "cand1"),
        answer="label",
        column_type="int64",
        folder=_folder,
    ),
    claims=_claims,
    corrupt=_corrupt,
    caption=_caption,
    reading=panel_as_text,
    scorers={"score": score, "drawn": score_drawings},
    chances=(0.5,) * len(LEVELS),
    protocols={"candidates_then_answer": candidates_then_answer},
    rank=3,
)
