"""Start of a run in Python: `sketchmark.run(...)`."""

from __future__ import annotations

from collections.abc import Sequence

from sketchmark.episode.model import Model
from sketchmark.notebook import Run
from sketchmark.report import report_run
from sketchmark.runs import prepare
from sketchmark.settings import Arguments, Folder, Limit, Name, Names, Prices


def run(
    model: str | Model,
    tasks: Names,
    *,
    # settings
    mode: Names = "direct",
    canvas: Names = "own",
    drawer: str | Model = "",
    draw: str | None = None,
    steps: str = "truth",
    limit: Limit | None = None,
    repeats: int | None = None,
    answers: int = 1,
    shard: str = "",
    seed: int = 0,
    output_path: Folder = None,
    tag: Names = "",
    model_args: Arguments = "",
    drawer_args: Arguments = "",
    task_args: Arguments = "",
    gen_kwargs: Arguments = "",
    prompts: str = "",
    data: Folder = None,
    scoring: Names = "strict",
    judge: str | Model = "",
    judge_args: Arguments = "",
    extractor: str | Model = "",
    extractor_args: Arguments = "",
    concurrency: int = 100,
    batch_size: int | str = "",
    time_limit: float | None = None,
    max_requests_per_minute: int | None = None,
    on_draw_failure: str = "fail",
    retry_failed: bool = False,
    fresh: bool = False,
    cache: Folder = None,
    no_cache: bool = False,
    include: Name | Sequence[Name] = (),
    trust_code: bool = False,
    allow_env: Names = "",
    strict_leaks: bool = False,
    prices: Prices = None,
    max_cost: float | None = None,
    engine: str = "auto",
    ray_address: str | None = None,
    replicas: int | None = None,
    num_gpus: float = 0,
    quiet: bool | None = None,
    # end of settings
) -> Run:
    """Run `tasks` with `model` and return the run, which shows itself in a notebook and with `print`.

        run = sketchmark.run("player/solver", "maze", mode="direct,visual_cot", limit=20)
        run.results, run.episodes(), run.to_pandas()

    The same as `sketchmark run`, with the same names, spellings, checks, cache and report; None is an option left
    out. Progress is shown in a notebook; `quiet=False` shows it elsewhere too, `quiet=True` nowhere. `model`,
    `drawer`, `judge` and `extractor` are names, or instances of your own: those stay yours to close, and their calls
    are cached only where you name a `cache` folder, since two instances of one class may answer differently.
    """
    options = {name: value for name, value in locals().items() if name not in ("model", "tasks")}
    return Run(prepare(model, tasks, **options).play(report_run).path)
