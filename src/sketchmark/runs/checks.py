"""Checks before the first call, and the estimate of a dry run."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Any

from sketchmark.answers.choices import options_of
from sketchmark.answers.extractor import opinion
from sketchmark.benchmarks.questions import SOURCE
from sketchmark.catalog import Catalog
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.desk import NEEDS, OF_A_WORLD, can_have
from sketchmark.episode.model import Abilities, Model, Options, Reply
from sketchmark.episode.sample import Context, Part
from sketchmark.errors import BadInput, CannotPlay
from sketchmark.folder import differences
from sketchmark.folder.format import CellRecord
from sketchmark.media import Picture
from sketchmark.media.sound import Sound
from sketchmark.models import hearing, paired
from sketchmark.models.arguments import refuse_misspelt
from sketchmark.models.cache import call_key
from sketchmark.models.code_drawing import ByCode, request_for, taken_from
from sketchmark.models.failures import USE_BLIND
from sketchmark.models.wrappers import CHARACTERS_A_TOKEN, TOKENS_A_REPLY, tokens_of
from sketchmark.results import grade
from sketchmark.runs.episodes import answer, play
from sketchmark.runs.jobs import CellProgress
from sketchmark.runs.plan import ALL, Cell, cells_of, counted_out
from sketchmark.settings import Settings
from sketchmark.terminal import counted


def plan(settings: Settings, catalog: Catalog, model: Model) -> list[Cell]:
    """Return the cells of a run, each checked against the model's abilities."""
    return plan_and_left_out(settings, catalog, model)[0]


def plan_and_left_out(settings: Settings, catalog: Catalog, model: Model) -> tuple[list[Cell], list[str]]:
    """Return the cells, and a line for each one that `--canvas all` leaves out."""
    refuse_misspelt(settings.gen_kwargs)
    cells, left_out, sizes = [], [], dict[str, int]()
    for cell in cells_of(settings, catalog):
        try:
            cells.append(check(counted_out(cell, sizes), settings.model_and_drawer, model.abilities))
        except CannotPlay as error:
            if settings.canvases != (ALL,) or cell.canvas == "own":
                raise
            left_out.append(f"{cell.name} is left out: {error}")
    return cells, left_out


def check(cell: Cell, model_name: str, can: Abilities) -> Cell:
    """Refuse a cell that cannot run, before any call. Return the cell with what its first sample shows."""
    needs_say = f"mode {cell.mode.name!r} of task {cell.task.name!r}"
    if not can.say:
        raise CannotPlay(f"{needs_say} needs a model that speaks, and {model_name} only draws")
    in_one = cell.draws and can.combined_prompt and cell.mode.protocol.in_combined_prompt
    if in_one and cell.canvas != "own":
        raise CannotPlay(f"{model_name} looks at its drawings itself: canvas {cell.canvas!r} cannot be put before it")
    if cell.draws and not can.draw and not in_one:
        raise CannotPlay(
            f"{needs_say} needs a model that draws, and {model_name} does not",
            "add a second model with --drawer, let it draw by code with --draw svg, or use --mode direct or text_cot",
        )
    if cell.canvas == "source" and not can.draws_code:
        raise CannotPlay(
            f"the canvas `source` shows the code of a drawing, and {model_name} draws pixels", "add --draw svg"
        )
    if can.native and cell.canvas != "own":
        raise CannotPlay(
            f"{model_name} is sent its own turns back (history=native), which remember the drawing that canvas "
            f"{cell.canvas!r} takes away",
            "history=native is a separate condition: run the controls without it",
        )
    draft = next(cell.drafts(), None)
    if draft is None:
        raise BadInput(f"task {cell.task.name!r} has no samples")
    generated, first = not draft.is_made, draft.sample
    world = cell.task.world_of(first) if cell.canvas in OF_A_WORLD else None
    if not can_have(cell.canvas, first, world):
        raise CannotPlay(
            f"task {cell.task.name!r} has no {NEEDS[cell.canvas]} for the {cell.canvas} canvas",
            "use own, blank or other",
        )
    if cell.canvas == "other" and cell.limit == 1:
        raise CannotPlay("the canvas `other` needs a second sample to take drawings from", "use a larger --limit")
    prompts = cell.mode.fill(first, cell.steps)
    parts = prompts.parts()
    if any(isinstance(part, Sound) for part in parts) and not can.hear:
        *others, last = [f"{provider}/" for provider in hearing()]
        raise CannotPlay(
            f"{needs_say} is to be listened to (sample {first.id}), and {model_name} takes no sounds",
            f"{', '.join(others)} and {last} send them to models that do",
        )
    shown = sum(isinstance(part, Picture) for part in parts)
    if not cell.mode.in_words and can.draw:
        shown += cell.mode.protocol.draws(prompts)
    if can.max_pictures == 0 and shown:
        raise CannotPlay(
            f"{needs_say} shows images (sample {first.id}), and {model_name} takes text only",
            USE_BLIND,
        )
    if can.max_pictures is not None and shown > can.max_pictures:
        raise CannotPlay(
            f"{needs_say} shows up to {shown} pictures in one call (sample {first.id}), and {model_name} takes "
            f"{can.max_pictures}",
            "use another model, or a mode that shows fewer",
        )
    weight = cell.length(first) or 0
    return replace(cell, weight=weight, generated=generated, pictured=shown > 0, in_one_call=in_one)


async def refuse_by_listing(cells: Sequence[Cell], model: Model) -> None:
    """Refuse a run whose cells need what the model has not, by the list of its server."""
    listed = await model.listing()
    if cells and listed.says is False:
        hint = "give it as --drawer, with a --model that generates text; BAGEL is --model bagel"
        raise CannotPlay(
            f"{cells[0].name} needs a model that speaks, and {model.name} only draws, says its server", hint
        )
    pictured = [cell.name for cell in cells if cell.pictured]
    if pictured and listed.takes_images is False:
        raise CannotPlay(f"{pictured[0]} shows images, and {model.name} takes none, says its server", USE_BLIND)


_LONGEST = 200
"""Characters of an option to look for: a prompt that holds these holds the answer."""


def leaks(cell: Cell, most: int = 1000) -> list[str]:
    """Return a line per sample whose generation prompt contains one of its options, of the first `most` samples."""
    if not cell.mode.prompts.get("generation_prompt") or not cell.mode.protocol.must_draw:
        return []
    found = []
    for number, sample in enumerate(cell.samples()):
        if number >= most:
            break
        prompt = cell.mode.fill(sample, cell.steps).text("generation_prompt").lower()
        for letter, option in options_of(sample.fields.get("question", "") + "\n" + sample.fields.get("options", "")):
            if len(option) > 2 and _holds(prompt, option.lower()):
                found.append(f"the generation prompt of sample {sample.id} contains its option {letter} ({option!r})")
                break
    return found


def _holds(prompt: str, option: str) -> bool:
    """Find the option in the prompt as whole words."""
    end = r"(?!\w)" if len(option) <= _LONGEST else ""
    return re.search(rf"(?<!\w){re.escape(option[:_LONGEST])}{end}", prompt) is not None


def warn_of_leaks(cells: Sequence[Cell], *, strict: bool = False) -> list[str]:
    """Return one warning per cell for the summary. Raise an error instead if `strict`."""
    warnings = []
    for cell in cells:
        found = leaks(cell)
        if found and strict:
            raise BadInput(f"{cell.name}: {found[0]}", "change generation_prompt, or drop --strict-leaks")
        if found:
            warnings.append(f"{cell.name}: {found[0]} ({len(found)} samples in all)")
    return warnings


_OF_DRAWING = ("draw", "svg")

_SOON = timedelta(days=90)

_LOOKED_AT = 1000
"""Samples of a cell."""


def warnings_of(cells: Sequence[Cell], settings: Settings, model: Model, *, with_judge: bool) -> list[str]:
    found = warn_of_leaks(cells, strict=settings.strict_leaks)
    found += unsent(cells, settings.gen_kwargs, model)
    if not with_judge:
        judged = [cell.name for cell in cells if cell.task.declared.needs_judge]
        found += [f"{name} is scored by a judge only: add --judge MODEL" for name in judged]
        found += [f"{name}: its `judged` questions get no score: add --judge MODEL" for name in _partly_judged(cells)]
    for cell in cells:
        if cell.mode.blind and (draft := next(cell.drafts(), None)) and not any(draft.sample.pictures.values()):
            found.append(f"{cell.name}: sample {draft.id} has no image, so blind asks what direct asks")
    drawing_last = [cell.name for cell in cells if cell.mode.protocol.skips_drawing and not cell.mode.in_words]
    if not model.abilities.draw:
        skipped = f"{settings.model} does not draw, so its drawing step is skipped; --draw svg lets it draw by code"
        found += [f"{name}: {skipped}" for name in drawing_last]
    elif set(settings.canvases) - {"own"}:
        found += [f"{name}: the drawing comes last, so --canvas changes nothing" for name in drawing_last]
    if settings.answers > 1:
        found += [f"{name}: the drawing comes last, so --answers changes nothing" for name in drawing_last]
        in_one = f"{settings.model} draws and answers in one call, so --answers changes nothing"
        found += [f"{cell.name}: {in_one}" for cell in cells if cell.in_one_call]
        if not any(cell.answers > 1 for cell in cells) and not found:
            found.append("--answers is for modes with drawings or descriptions, and none of these has any")
    return found


def unsent(cells: Sequence[Cell], given: Mapping[str, Any], model: Model) -> list[str]:
    """Name each setting of the user (`given`) or of a task that the model will not receive, by `Model.receives`.

    The temperature of a task is about answers. A drawing's is named only if the user gives one. A task's settings of
    drawings are those of one family of models: they are named to a model that takes some of them. A setting of the
    user that the run's drawings get is not named for its answers."""
    found: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    draws = model.abilities.draw and any(cell.may_draw for cell in cells)
    for_drawings = {*(model.receives("draw") or ())} & {*given} - {"temperature", "seed"} if draws else set()
    for cell in cells:
        acts = [("say", cell.mode.saying), *[("draw", cell.mode.drawing)] * (cell.may_draw and model.abilities.draw)]
        for act, options in acts:
            received = model.receives(act)
            if received is None:
                continue
            asked = [*options.extra]
            asked += ["temperature"] * (act == "say" or "temperature" in given)
            asked += [name for name in ("seed", "max_new_tokens") if getattr(options, name) is not None]
            for whose in ("--gen_kwargs", "the task's"):
                own = [name for name in asked if (name in given) == (whose[0] == "-")]
                names = [name for name in own if name not in received and not (act == "say" and name in for_drawings)]
                for_others = act == "draw" and whose[0] != "-" and names == own
                if names and not for_others:
                    found.setdefault((whose, act, tuple(names)), []).append(cell.name)
    return [
        f"{whose} {', '.join(names)}: {model.name} does not receive {'them' if len(names) > 1 else 'it'} in "
        f"{'answers' if act == 'say' else 'drawings'} ({cells[0]}{f' and {len(cells) - 1} more' * (len(cells) > 1)})"
        for (whose, act, names), cells in found.items()
    ]


def _partly_judged(cells: Sequence[Cell]) -> list[str]:
    """Find question files with judged questions among their first samples."""
    files = [cell for cell in cells if cell.task.declared.source.get("use") == SOURCE]
    return [
        cell.name
        for cell in files
        if any(sample.target["type"] == "judged" for sample in islice(cell.samples(), _LOOKED_AT))
    ]


def retiring(retires: Mapping[str, str]) -> list[str]:
    """Warn of models that will soon be shut down: then the run cannot be repeated."""
    found = []
    for name, day in retires.items():
        try:
            left = date.fromisoformat(day) - datetime.now(UTC).date()
        except ValueError:  # the server sent something else
            continue
        if left.days < 0:
            found.append(f"{name}: this model is retired, its provider shut it down on {day}: name another")
        elif left <= _SOON:
            found.append(f"{name} is shut down on {day}, says its provider: plan to repeat this with another model")
    return found


def played_otherwise(cells: Mapping[str, CellRecord]) -> list[str]:
    """Warn of cells that were added to a folder with other model arguments: a gain between them may come from these.
    Arguments about drawing do not matter to a mode without drawing."""
    found, first = [], dict[str, str]()
    for name, cell in cells.items():
        before = first.setdefault(cell.task, name)
        one, other = (
            {key: value for key, value in about.model.items() if not key.startswith(_OF_DRAWING)}
            for about in (cells[before], cell)
        )
        if changed := differences(one, other):
            told = "; ".join(changed[:3])
            found.append(f"{name} was run with other model arguments than {before}: {told}")
    return found


_TAG = re.compile(r"</([A-Z_]{1,40})>")


class CountingModel(Model):
    """Answers with as much as it may, so that the count is the most a run can ask for.

    `shown` is what else a call may carry, in tokens: a judge reads answers that do not exist yet. `by_code` is
    how drawings are written, where they are.
    """

    hears = True

    def __init__(self, shown: int = 0, by_code: ByCode | None = None, seen: set[str] | None = None) -> None:
        super().__init__("tally")
        self.usage: Counter[str] = Counter()
        self.repeated: Counter[str] = Counter()
        """The part of `usage` that repeats earlier calls, of this model or another with the same `seen`."""
        self._shown, self._by_code = shown, by_code
        self._seen = set() if seen is None else seen

    async def say(self, context: Context, options: Options) -> Reply:
        self._count("say", context, options, tokens_out=options.max_new_tokens or TOKENS_A_REPLY)
        return Reply(text=_in_tags("x" * 40, context.texts))

    async def draw(self, context: Context, options: Options) -> Reply:
        if self._by_code:
            return self._write(context, options, self._by_code)
        return Reply(picture=_drawing(self._count("draw", context, options, pictures_out=1)))

    def _write(self, context: Context, options: Options, how: ByCode) -> Reply:
        key = ""
        for failed in range(1 + how.retries):
            asked = Context((*context, Part(request_for(context.pictures)), *[Part("again")] * failed))
            tokens = how.tokens
            key = self._count("say", asked, options, tokens_in=failed * tokens, tokens_out=tokens)
        return Reply(text="x" * (how.tokens * CHARACTERS_A_TOKEN), picture=_drawing(key))

    def _count(self, act: str, context: Context, options: Options, tokens_in: int = 0, **more: int) -> str:
        """Count a call and return its key in the cache."""
        tokens_in += tokens_of(context) + self._shown
        used = {"calls": 1, "pictures_in": len(context.pictures), "tokens_in": tokens_in, **more}
        self.usage.update(used)
        key = call_key(self, act, context, options)
        if key in self._seen:
            self.repeated.update(used)
        self._seen.add(key)
        return key


def _in_tags(text: str, asked: Sequence[str]) -> str:
    """In the tags that the prompt asks for: some judges are asked only about an answer in its form."""
    tag = next((found[1] for one in asked if (found := _TAG.search(one))), "")
    return f"<{tag}>{text}</{tag}>" if tag else text


@dataclass(frozen=True)
class Estimate:
    """Calls, pictures and tokens (at most) of one cell: the model's, with its drawer's part marked, the judge's and
    the extractor's.

    `repeated` is the part of the model's that repeats earlier calls of the run, such as the first drawing on another
    canvas. The cache answers these without a charge, unless both are under way at the same time.
    """

    usage: Mapping[str, int]
    judge: Mapping[str, int]
    extractor: Mapping[str, int]
    repeated: Mapping[str, int]


def estimate(cells: list[Cell], scorings: Sequence[str] = (), *, extracts: bool = False) -> dict[str, Estimate]:
    """Count the calls of each cell. `scorings` are those that need the judge; none: there is no judge. `extracts`:
    an extractor may be asked about every reply. Samples are read or made for it, so a progress bar is shown."""

    async def count() -> dict[str, Estimate]:
        counts = {}
        seen: set[str] = set()
        for cell in cells:
            by_code = taken_from(dict(cell.settings.model_args), cell.settings.model)
            tally, once_more = (CountingModel(by_code=by_code, seen=seen) for _ in range(2))
            shown = cell.mode.saying.max_new_tokens or TOKENS_A_REPLY
            drawer = None
            if cell.settings.drawer:
                by_code = taken_from(dict(cell.settings.drawer_args), cell.settings.drawer)
                drawer = CountingModel(by_code=by_code, seen=seen)
            asked = paired(tally, drawer)
            judge, extractor = CountingModel(shown), CountingModel(shown)
            with counted(cell.pairs(), CellProgress(cell).most, cell.name) as pairs:
                for index, (draft, donor) in enumerate(pairs):
                    if not cell.shard.plays(index):
                        continue
                    episode = await play(asked, cell, draft.sample, donor.sample if donor else None)
                    if cell.answers > 1:
                        await answer(paired(once_more, drawer), cell, episode, branch=1)
                    tally.usage["episodes"] += 1
                    await asyncio.sleep(0)  # nothing else waits here, and a signal must be able to end it
                    for scoring in scorings:
                        await grade(cell.task, episode, index, Grading(scoring, judge))
                    if extracts:
                        await opinion(extractor, episode, _unparsed)
            if drawer:
                tally.usage.update(_of_drawer(drawer.usage))
                tally.repeated.update(_of_drawer(drawer.repeated))
            again, drawn = cell.answers - 1, cell.repeats
            counts[cell.name] = Estimate(
                _times(drawn, tally.usage, again, {**once_more.usage, "episodes": tally.usage["episodes"]}),
                _times(drawn * cell.answers, judge.usage),
                _times(drawn * cell.answers, extractor.usage),
                _times(drawn, tally.repeated, again, once_more.repeated),
            )
        return counts

    return asyncio.run(count())


def _times(
    repeats: int, usage: Mapping[str, int], more: int = 0, further: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Return the usage of all repeats, each with so many further answers. Every repeat asks for as much."""
    return {name: repeats * (count + more * (further or {}).get(name, 0)) for name, count in usage.items()}


def _of_drawer(usage: Mapping[str, int]) -> dict[str, int]:
    """Return usage with its marks as a drawer's, as `Usage.of_drawer` does."""
    return {**usage, **{f"drawer_{name}": count for name, count in usage.items()}}


async def _unparsed(episode: Episode) -> Scores:
    return Scores({}, unparsed=True)


def _drawing(key: str) -> Picture:
    """Make an image that differs from call to call, as a model's drawings do."""
    from PIL import Image

    return Picture.from_image(Image.frombytes("RGB", (2, 5), bytes.fromhex(key[:60])))
