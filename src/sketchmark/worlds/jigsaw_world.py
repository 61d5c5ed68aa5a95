"""Jigsaws as a world: samples, the published folders, and how players play them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from sketchmark.parts import Context, Sample
from sketchmark.picture import Picture
from sketchmark.worlds import jigsaw, writing
from sketchmark.worlds.description import Add, Argument, Making, Play, World
from sketchmark.worlds.playing import labelled, tagged_choice, wanted
from sketchmark.worlds.seeding import numbered_drafts


def samples(*, seed: int, data: Path | None, difficulty: str, folder: str = "") -> Iterator[Sample]:
    pictures = Path(folder) if folder else None

    def make(id: str, number: int, own_seed: int) -> Sample:
        puzzle = jigsaw.generate(own_seed, difficulty, pictures)
        return Sample(
            id=id,
            pictures={"ref": puzzle.ref, "cand0": puzzle.candidates[0], "cand1": puzzle.candidates[1]},
            target={"label": puzzle.label},
            groups={"wrong_kind": puzzle.wrong_kind, "difficulty": difficulty},
            steps=2,
            frames=partial(jigsaw.frames, puzzle),
        )

    made = numbered_drafts("jigsaw", seed, make)
    return (sample for sample in made) if folder else made  # a folder may change under a run: each is compared


class JigsawPlay(Play):
    """The solver compares seams in its head; the sketcher only in its own drawings, and tosses a coin without."""

    def answer(self, context: Context) -> str | None:
        pieces = _pieces(context)
        if pieces is None:
            return None
        better = _better_fitting(pieces)
        if wanted(context) == "describe":
            return f"The seams {'run on' if _asked_candidate(context) == better else 'break'} at the inner edges."
        return tagged_choice(better, "its seams run on across both inner edges")

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
        coin = Random(int(pieces[1].identity[:12], 16) + seed)
        return tagged_choice(coin.randrange(2), "at a glance both fit")

    def sketch(self, context: Context, shaky: bool, rng: Random) -> Picture | None:
        return self._completed(context, other=shaky)

    def conclude(self, context: Context, by_drawings: bool, wrong: bool) -> str | None:
        pieces = _pieces(context)
        if pieces is None:
            return None
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
    costs = [jigsaw.seam_cost_with(pieces[0], candidate) for candidate in pieces[1:]]
    return costs.index(min(costs))


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
    if not _belongs(drawing, writing.picture_of(sample, "ref")):
        return "The drawing does not show the panel with one cell filled in."
    step = jigsaw.seam_cost(drawing)
    return (
        "The drawing shows the panel with its bottom-right cell filled in. Across the two inner edges of that cell "
        f"the colors change by {step:.1f} of 255 on average."
    )


def better_shown(completed: Sequence[Picture], reference: Picture) -> int | None:
    """Which of two completions runs on more smoothly; None unless both show this panel."""
    if len(completed) != 2 or not all(_belongs(picture, reference) for picture in completed):
        return None
    costs = [jigsaw.seam_cost(picture) for picture in completed]
    return costs.index(min(costs))


def _belongs(completed: Picture, reference: Picture) -> bool:
    """Does a completed panel show this puzzle? Its upper half must look like the reference's."""
    if completed.size != reference.size:
        return False
    import numpy as np

    half = reference.size[1] // 2
    mine, its = (picture.values[:half].astype(np.int16) for picture in (completed, reference))
    return bool(np.abs(mine - its).mean() < 8)


def _claims(target: Mapping[str, Any]) -> bool:
    return set(target) == {"label"} and target["label"] in (0, 1)


@contextmanager
def _folder(out: Path) -> Iterator[Add]:
    """The jigsaws of the published `data.tar`. Paths in the index file are relative to `out`."""
    root = "jigsaw_dataset_2x2ref"
    writing.refuse_existing(out / root)
    with writing.index(out / root / "metadata.json") as enter:

        def add(number: int, sample: Sample) -> None:
            name, label = f"{root}/{number:05d}", sample.target["label"]
            frames, candidates = writing.frames_of(sample), [writing.picture_of(sample, f"cand{i}") for i in (0, 1)]
            ref = writing.save(out, f"{name}/ref.png", writing.picture_of(sample, "ref"))
            enter(
                id=f"{number:05d}",
                label=label,
                ref_panel={"ref_image_path": ref},
                candidate_paths=writing.save_steps(out, f"{name}/cand{{}}.png", candidates),
                gt_completed_2x2_path=writing.save(out, f"{name}/gt_completed.png", frames[label]),
                gt_wrong_2x2_path=writing.save(out, f"{name}/gt_wrong.png", frames[1 - label]),
            )

        yield add


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
)

ALIASES = {
    "samples": "sketchmark.worlds.jigsaw_world:samples",
    "score": "sketchmark.tasks.worlds.jigsaw_scoring:score",
    "drawn": "sketchmark.tasks.worlds.jigsaw_scoring:score_drawings",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""
