"""`sketchmark voila infer`: the original script's arguments, played by the ordinary runner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sketchmark.api import play
from sketchmark.catalog import Catalog
from sketchmark.errors import BadInput
from sketchmark.models.base import Abilities, Model, Options, Reply
from sketchmark.parts import Context
from sketchmark.runs.prepare import prepare
from sketchmark.tasks.voila.results_file import write_results

HUB = "nlylmz/VOILA"
MODE = "stepwise"


@dataclass(frozen=True)
class Inference:
    """What was asked for. Sampling with temperature 0.5 and 3048 tokens are the published defaults
    (docs/benchmarks/voila.md, "Inference settings")."""

    model_name: str
    distraction: bool
    output_path: Path
    dataset_name: str = HUB
    data: Path | None = None
    csv: Path | None = None
    images: Path | None = None
    max_new_tokens: int = 3048
    temperature: float = 0.5
    device_map: str = "auto"
    model_args: dict[str, Any] | None = None
    draw: bool = False
    limit: int | None = None
    concurrency: int = 16
    fresh: bool = False
    quiet: bool = False

    @property
    def run_folder(self) -> Path:
        return self.output_path.with_name(f"{self.output_path.name}.run")


class _WithoutDrawing(Model):
    """The published script stops after step 3, also for models that could draw."""

    def __init__(self, model: Model) -> None:
        super().__init__(model.name)
        self._model = model

    @property
    def abilities(self) -> Abilities:
        can = self._model.abilities
        return Abilities(say=can.say, draw=False, max_pictures=can.max_pictures)

    def identity(self) -> dict[str, Any]:
        """Told apart, so that `--draw` over a run without drawings is noticed instead of adding nothing."""
        return {**self._model.identity(), "draws": False}

    async def say(self, context: Context, options: Options) -> Reply:
        return await self._model.say(context, options)


def infer(asked: Inference) -> tuple[Path, list[int]]:
    """Play, and write the results file. Returns it and the questions that failed; the same call plays those again."""
    name, arguments = _model(asked)
    prepared = prepare(
        name,
        "voila_wd" if asked.distraction else "voila_nd",
        mode=MODE,
        limit=asked.limit,
        data=_data(asked),
        model_args=arguments,
        gen_kwargs={"max_new_tokens": asked.max_new_tokens, "temperature": asked.temperature},
        concurrency=asked.concurrency,
        retry_failed=True,
        fresh=asked.fresh,
        output_path=asked.run_folder,
        quiet=asked.quiet,
    )
    if not asked.draw:
        prepared = replace(prepared, model=_WithoutDrawing(prepared.model))
    folder = play(prepared)
    episodes = folder.played(prepared.cells[0].name)
    return asked.output_path, write_results(episodes, folder.pictures, asked.output_path)


def _model(asked: Inference) -> tuple[str, dict[str, Any]]:
    """A Sketchmark name as it is; anything else is a transformers model, as in the original."""
    provider = asked.model_name.partition("/")[0]
    known = provider in Catalog().model_names()
    name = asked.model_name if known else f"hf/{asked.model_name}"
    arguments = dict(asked.model_args or {})
    if name.startswith("hf/"):
        arguments.setdefault("device_map", asked.device_map)
    return name, arguments


def _data(asked: Inference) -> Path | None:
    """Where the questions are. A CSV and a folder of pictures are brought into the published layout by a link."""
    if asked.data is not None:
        if asked.csv or asked.images or asked.dataset_name != HUB:
            raise BadInput("--data says where the questions are", "leave out --csv, --images and --dataset_name")
        return asked.data
    if asked.csv is None:
        if asked.images is not None:
            raise BadInput("--images goes with --csv")
        if asked.dataset_name == HUB:
            return None
        if not Path(asked.dataset_name).exists():
            raise BadInput(
                f"no data set {asked.dataset_name!r}", f"{HUB} on the hub, a folder on disk, or --csv and --images"
            )
        return Path(asked.dataset_name)
    if asked.images is None:
        return asked.csv
    inner = asked.images / "Test_Images"
    pictures = (inner if inner.is_dir() else asked.images).resolve()
    layout = asked.run_folder / "data"
    layout.mkdir(parents=True, exist_ok=True)
    table, link = layout / f"questions{asked.csv.suffix}", layout / "Test_Images"
    table.write_bytes(asked.csv.read_bytes())
    if link.is_symlink():
        link.unlink()
    link.symlink_to(pictures, target_is_directory=True)
    return table
