"""Inspect: every world as a task, and Sketchmark's models as Inspect's.

    inspect eval sketchmark/maze --model openai/gpt-5.1 -T mode=direct -T samples=50
    inspect eval sketchmark/maze --model sketchmark/player/solver -T mode=visual_cot

Inspect finds this module by an entry point. A sample of a task is the sample of `sketchmark run` with the same seed,
and the protocol, the prompts and the scorer are those of the run, so equal replies have equal scores. A model that
draws returns images in its messages; Inspect's `openai-api` provider drops them, so drawing models of such servers
are named through ours: `sketchmark/openai/NAME`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    get_model,
    modelapi,
)
from inspect_ai.model import Model as InspectModel
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolChoice, ToolInfo

from sketchmark.catalog import Catalog
from sketchmark.episode import Grading
from sketchmark.episode.model import Model, Options, Reply
from sketchmark.episode.sample import Author, Context, Part
from sketchmark.episode.sample import Sample as OurSample
from sketchmark.errors import BadInput, BadPicture, CallFailed
from sketchmark.media import Picture
from sketchmark.results import grade
from sketchmark.runs.episodes import play
from sketchmark.runs.plan import Cell
from sketchmark.settings import Settings
from sketchmark.training import Course, Game, bytes_in, worlds

_KEPT = "sketchmark"
"""Name under which a sample's scores are kept between solver and scorer."""
_IMAGE = ["image"]


def messages_of(context: Context) -> list[ChatMessage]:
    """Return a context as chat messages. Neighbouring parts of one author are one message, in their order."""
    made: list[ChatMessage] = []
    for by, parts in groupby(context, key=lambda part: part.by):
        content: list[Any] = [
            ContentImage(image=part.picture.data_url) if part.picture else ContentText(text=part.text or "")
            for part in parts
        ]
        kind = {"task": ChatMessageUser, "model": ChatMessageAssistant, "system": ChatMessageSystem}[by]
        made.append(kind(content=content))
    return made


def context_of(messages: Sequence[ChatMessage]) -> Context:
    """Return chat messages as a context: `messages_of` backwards."""
    by: dict[str, Author] = {"user": "task", "tool": "task", "assistant": "model", "system": "system"}
    return Context(tuple(Part(content, by[one.role]) for one in messages for content in _contents(one)))


def _contents(message: ChatMessage) -> Iterator[str | Picture]:
    if isinstance(message.content, str):
        yield message.content
        return
    for part in message.content:
        if part.type == "image":
            yield _picture(part.image)
        elif part.type == "text":
            yield part.text


def _picture(address: str) -> Picture:
    if not (data := bytes_in(address)):
        raise BadPicture("an image that is not a data URL in base64", "images are not fetched")
    return Picture.from_bytes(data)


class _Asked(Model):
    """A model of Inspect's, at the desk of an episode."""

    def __init__(self, model: InspectModel) -> None:
        super().__init__(str(model))
        self._asked = model

    async def say(self, context: Context, options: Options) -> Reply:
        output = await self._reply(context, options, None)
        return Reply(output.completion, finish="length" if output.stop_reason == "max_tokens" else "stop")

    async def draw(self, context: Context, options: Options) -> Reply:
        output = await self._reply(context, options, _IMAGE)
        try:
            drawn = [one for one in _contents(output.message) if isinstance(one, Picture)]
        except BadPicture as error:
            return Reply(output.completion, trouble=str(error))
        return Reply(output.completion, drawn[-1] if drawn else None)

    async def _reply(self, context: Context, options: Options, modalities: Any) -> ModelOutput:
        given = GenerateConfig(
            max_tokens=options.max_new_tokens,
            temperature=options.temperature,
            seed=options.seed,
            modalities=modalities,
        )
        output = await self._asked.generate(messages_of(context), config=given)
        if output.error:
            raise CallFailed("error", output.error)
        return output


def _opened(world: str, mode: str, canvas: str, seed: int, level: int) -> Cell:
    opened = Catalog().task(world, arguments={"level": level} if level else {})
    return Cell(world, opened, opened.mode(mode), canvas, "truth", Settings(seed=seed))


@solver
def episode(world: str, mode: str, canvas: str, seed: int, level: int, samples: int) -> Solver:
    """Run the episode of a sample, and keep its transcript and its scores."""
    cell = _opened(world, mode, canvas, seed, level)
    drafts = {draft.id: draft for draft in cell.task.drafts(seed=seed, limit=samples)}

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        sample = drafts[str(state.sample_id)].sample
        played = await play(_Asked(get_model()), cell, sample)
        if played.failure and not played.failure.blames_model:
            raise CallFailed(played.failure.kind, played.failure.message)
        row = await grade(cell.task, played, 0, Grading())
        state.messages = messages_of(Context(tuple(part for turn in played.turns for part in turn.added)))
        state.output = ModelOutput.from_content(str(get_model()), played.answer)
        state.store.set(_KEPT, {name: value for name, value in row.values.items() if value is not None})
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr()]})
def scores() -> Scorer:
    """The scores of `sketchmark run`, by their names there."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=state.store.get(_KEPT), answer=state.output.completion)

    return score


def _task(world: str) -> Callable[..., Task]:
    def made(mode: str = "direct", samples: int = 50, seed: int = 0, level: int = 0, canvas: str = "own") -> Task:
        """A generated world: modes direct, visual_cot, text_cot, text_input and blind; canvases own, blank, oracle,
        corrupt and caption."""
        if canvas not in ("own", "blank", "oracle", "corrupt", "caption"):
            raise BadInput(
                f"no canvas {canvas!r} here", "own, blank, oracle, corrupt, caption; others: sketchmark run"
            )
        cell = _opened(world, mode, canvas, seed, level)
        rows = [
            Sample(id=one.id, input=_question(cell, one), target=_answer(one))
            for one in cell.task.samples(seed=seed, limit=samples)
        ]
        solves = episode(world, mode, canvas, seed, level, samples)
        return Task(dataset=MemoryDataset(rows, name=world), solver=solves, scorer=scores())

    made.__name__ = made.__qualname__ = world
    return made


def _answer(sample: OurSample) -> str:
    """Return the ground truth for people who read the log; scores do not come from it."""
    return str(next((sample.target[key] for key in ("answer", "moves", "label") if key in sample.target), ""))


def _question(cell: Cell, sample: OurSample) -> list[ChatMessage]:
    """Return what the first call of an episode shows."""
    return messages_of(Game(Course(cell.name, cell.mode.name), sample=sample).begin().context)


for _name in worlds():
    globals()[_name] = task(name=_name)(_task(_name))


@modelapi(name="sketchmark")
class SketchmarkModel(ModelAPI):
    """Any model of Sketchmark's, by its name there. It draws if `modalities` asks for an image."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 as Inspect declares it
        **arguments: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        given = {**arguments, **({"base_url": base_url} if base_url else {})}
        self._model = Catalog().model(model_name, given)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        options = Options(config.max_tokens, config.temperature or 0.0, config.seed)
        draws = "image" in (config.modalities or ())
        reply = await (self._model.draw if draws else self._model.say)(context_of(input), options)
        content: list[Any] = [ContentText(text=reply.text)] if reply.text else []
        content += [ContentImage(image=reply.picture.data_url)] if reply.picture else []
        return ModelOutput.from_content(
            self.model_name, content or "", "max_tokens" if reply.finish == "length" else "stop"
        )

    async def aclose(self) -> None:
        await self._model.close()
