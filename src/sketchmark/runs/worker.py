"""A worker of a run, in another process or on another machine: makes the model and the cells for itself, and plays
what it is sent. It sees no run folder and no data set."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from sketchmark.catalog import Catalog
from sketchmark.errors import CannotPlay, MissingExtra, RunConflict
from sketchmark.models.base import Model
from sketchmark.models.cached import default_cache, with_cache
from sketchmark.models.tally import Counted, Tally
from sketchmark.parts import Draft, Sample
from sketchmark.runs.grading import grade, one_line
from sketchmark.runs.plan import Cell, cells_of
from sketchmark.runs.play import play
from sketchmark.runs.travel import (
    JobLine,
    OutcomeLine,
    Pictures,
    Recipe,
    pack_outcome,
    pack_tally,
    request_of,
    samples_in,
    unpack_job,
    unpack_recipe,
    wrapped,
)
from sketchmark.scores import Grading
from sketchmark.terminal import notice

ENTRY = f"{__name__}:open_worker"


async def open_worker(recipe: bytes) -> Worker:
    return Worker(*unpack_recipe(recipe))


class Worker:
    def __init__(self, recipe: Recipe, included: dict[str, bytes]) -> None:
        self._recipe = recipe
        self._folder = tempfile.TemporaryDirectory(prefix="sketchmark-") if included else None
        if self._folder is not None:
            _unpack(Path(self._folder.name), included)
            recipe.request["include"] = [str(Path(self._folder.name) / path) for path in recipe.request["include"]]
        request = request_of(recipe.request)
        catalog = Catalog(request.include, request.trust_code, notice)
        cache = Path(recipe.cache) if recipe.cache else None if recipe.cache is None else default_cache()
        self._tally = Tally()
        model = with_cache(catalog.model(request.model, recipe.model_args), cache)
        self._model: Model = Counted(model, self._tally)
        self._model.expect(recipe.at_once)
        self._cells = {cell.name: _Numbered(cell) for cell in cells_of(request, catalog)}
        # One thread: making two samples at once would not be faster, and the calls under way go on beside it.
        self._making = ThreadPoolExecutor(1, thread_name_prefix="samples")

    async def play(self, parcel: bytes) -> bytes:
        job, pictures = unpack_job(parcel)
        of = self._cells[job.cell]
        try:
            sample, donor = await self._samples(of, job, pictures)
        except Exception:  # whoever sent it makes it, and sees for itself what is wrong
            return wrapped(OutcomeLine(not_made=True), {})
        try:
            episode = await play(self._model, of.cell, sample, donor, self._recipe.time_limit)
            row = None
            if self._recipe.scoring is not None:
                with suppress(RunConflict):  # it takes the data, which is not here: whoever sent it scores
                    row = await grade(of.cell.task, episode, job.index, Grading(self._recipe.scoring))
            return pack_outcome(job, pictures, episode, row)
        except (MissingExtra, CannotPlay) as error:
            return wrapped(OutcomeLine(cannot_play=str(error)), {})
        except Exception as error:  # a bug of ours: told where it can be seen
            return wrapped(OutcomeLine(cannot_play=f"a worker broke: {one_line(error)}"), {})

    def news(self) -> bytes:
        return pack_tally(self._tally)

    async def close(self) -> None:
        await self._model.close()
        self._making.shutdown(wait=False)
        if self._folder is not None:
            self._folder.cleanup()

    async def _samples(self, of: _Numbered, job: JobLine, pictures: Pictures) -> tuple[Sample, Sample | None]:
        if job.sample is not None:
            return samples_in(job, pictures)

        def make() -> tuple[Sample, Sample | None]:
            draft, donor = of.pair(job.index)
            return draft.sample, donor.sample if donor else None

        return await asyncio.get_running_loop().run_in_executor(self._making, make)


class _Numbered:
    """A cell's samples by their numbers, for those that are made and not read. Jobs come mostly in order."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self._next = 0
        self._pairs: Iterator[tuple[Draft, Draft | None]] = iter(())

    def pair(self, index: int) -> tuple[Draft, Draft | None]:
        if self._next == 0 or index < self._next:
            self._pairs, self._next = self.cell.pairs(), 0
        while True:
            found = next(self._pairs, None)
            if found is None:
                raise LookupError(f"there is no sample {index}")
            self._next += 1
            if self._next > index:
                return found


def _unpack(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
