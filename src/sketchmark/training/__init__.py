"""Training environments: a trainer plays the episodes of a generated world and is rewarded for each drawing.

    course = Course("maze")
    game = Game(course, seed=7, level=3)
    turn = game.begin()
    while not turn.done:
        turn = game.step(my_model(turn.context, turn.wanted))

A game is an episode of `sketchmark run`: the same prompts, the same protocol and the same scorer. The reward of a
turn is what it adds to the scores of the transcript so far, so the rewards of an episode sum up to its scores in a
run.

Training samples are never those of a run: their seeds begin at `FIRST_TRAINING_SEED`, and a run refuses such seeds.
"""

from __future__ import annotations

import base64
from collections.abc import Coroutine, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, cast

from sketchmark.catalog import Catalog
from sketchmark.episode import Episode, Failure, Grading, Scores, Turn
from sketchmark.episode.desk import Desk
from sketchmark.episode.model import Model, Options, Reply
from sketchmark.episode.sample import Context, Part, Sample
from sketchmark.errors import BadInput, BadPicture, CallFailed
from sketchmark.media import Picture
from sketchmark.tasks import Mode, Task
from sketchmark.worlds import FIRST_TRAINING_SEED, LEVELS, MIXED, Argument

Wanted = Literal["say", "draw", ""]
"""What the model is asked for next; empty at the end."""
Content = str | bytes | Picture
"""What a model sends: a text, or an image as a `Picture` or the bytes of a file."""
_MOST_BYTES = 16_000_000
"""Bytes of an image that a model sends. Larger ones count as no image."""
_MOST_PIXELS = 4096 * 4096


@dataclass(frozen=True)
class Marks:
    """The scores of a transcript, each from 0 to 1. Shares are of the expected frames, or of the drawn ones if there
    are more. Drawings are compared with the ground truth by the world's image reader.

    `answer` is the headline score of the task, and `form` whether the answer could be parsed; both are 0 before the
    end. `progress` is the part of the way that is drawn without an error from the first frame on.
    """

    answer: float = 0.0
    right: float = 0.0
    legal: float = 0.0
    readable: float = 0.0
    progress: float = 0.0
    form: float = 0.0


@dataclass(frozen=True)
class Weights:
    """How much each mark counts in the reward. By default half is for the answer and half for the drawings, and a
    drawing is rewarded only if it and all before it are right."""

    answer: float = 0.5
    right: float = 0.0
    legal: float = 0.0
    readable: float = 0.0
    progress: float = 0.5
    form: float = 0.0

    def reward(self, marks: Marks) -> float:
        given = asdict(self)
        return float(sum(given[name] * mark for name, mark in asdict(marks).items()))


@dataclass(frozen=True)
class Outcome:
    """The state of a game after a turn. `context` is all that a model sees in the next call, as in a run; `parts` is
    what the task has added to it since the last call. `info` has the marks so far and never the solution."""

    wanted: Wanted
    context: Context
    parts: tuple[Part, ...]
    reward: float = 0.0
    done: bool = False
    info: Mapping[str, float | str] = field(default_factory=dict)


@cache
def _catalog(include: tuple[Path, ...]) -> Catalog:
    return Catalog(include)


@dataclass(frozen=True)
class Course:
    """What is trained on: the task of a generated world, in one mode. Levels and looks that are not named are held
    out: no sample of them is made."""

    world: str
    mode: str = "visual_cot"
    levels: tuple[int, ...] = LEVELS
    looks: tuple[str, ...] = ()
    """Empty: all looks."""
    weights: Weights = Weights()
    size: int = 0
    """Pixels a side; 0: as in a run."""
    include: tuple[Path, ...] = ()
    """Files of your own worlds, as with `--include`."""

    def __post_init__(self) -> None:
        known = set(self._arguments)
        if "level" not in known:
            raise BadInput(
                f"{self.world} has no levels to train on", f"worlds with levels are: {', '.join(worlds())}"
            )
        unknown = [level for level in self.levels if level not in LEVELS]
        if unknown or not self.levels:
            raise BadInput(f"{self.world} has no level {unknown[0] if unknown else 'at all'}", "levels are 1 to 5")
        looks = self._looks()
        if strange := [look for look in self.looks if look not in looks]:
            raise BadInput(f"{self.world} has no look {strange[0]!r}", f"looks are: {', '.join(looks) or 'one only'}")
        _ = self.opened_mode

    @property
    def task(self) -> Task:
        return _opened(self.include, self.world, self.mode)[0]

    @property
    def opened_mode(self) -> Mode:
        return _opened(self.include, self.world, self.mode)[1]

    @property
    def _arguments(self) -> Mapping[str, Argument]:
        making = _catalog(self.include).worlds[self.world].making
        return {one.name: one for one in making.arguments} if making else {}

    def sample(self, seed: int, level: int | None = None, look: str = "") -> Sample:
        """Make the sample of a training seed, from 0 on: the same in every process. Without a level or a look, the
        seed chooses among those of the course."""
        if not 0 <= seed < FIRST_TRAINING_SEED:
            raise BadInput(f"no training seed {seed}", f"give one from 0 to {FIRST_TRAINING_SEED - 1}")
        level = self.level_of(seed) if level is None else level
        looks = self.looks or self._looks()
        look = look or (looks[seed // len(self.levels) % len(looks)] if looks else "")
        if level not in self.levels or (look and look not in looks):
            raise BadInput(
                f"level {level} {look} of {self.world} is held out", "name it in the course to train on it"
            )
        given: dict[str, Any] = {"level": level}
        given |= {"look": look} if look else {}
        given |= {"size": self.size} if self.size else {}
        making = _catalog(self.include).worlds[self.world].making
        assert making is not None
        return next(making.samples(seed=FIRST_TRAINING_SEED + seed, data=None, **given))

    def level_of(self, seed: int) -> int:
        """Return the level that a seed has unless another is asked for."""
        return self.levels[seed % len(self.levels)]

    def _looks(self) -> tuple[str, ...]:
        look = self._arguments.get("look")
        return tuple(one for one in look.among if one != MIXED) if look else ()

    def scores(self, episode: Episode) -> Scores:
        """Score a transcript by the scorers of the task, as a run does."""
        values: dict[str, float | None] = {}
        notes: dict[str, Any] = {}
        unparsed = False
        for scorer in self.task.scorers:
            found = scorer(episode.sample, episode, Grading())
            if not isinstance(found, Scores):
                raise BadInput(f"the scorer of {self.world} asks a model", "train on a world that is scored by rules")
            values |= found.values
            notes |= found.notes
            unparsed = unparsed or found.unparsed
        return Scores(values, notes, unparsed)

    def marks(self, episode: Episode, *, ended: bool = True) -> Marks:
        found = self.scores(episode)
        drawn = len(episode.drawings)
        expected = episode.sample.steps or len(episode.sample.frames() if episode.sample.frames else ())
        most = max(expected, drawn, 1)
        right = [bool(one) for one in found.notes.get("frames_right", ())][: max(expected, drawn)] if drawn else []
        unbroken = next((place for place, one in enumerate(right) if not one), len(right))
        share = {end: _value(found, f"{self.world}_{end}") for end in ("img_legal", "parse_frame_success")}
        return Marks(
            answer=_value(found, self.task.headline) if ended else 0.0,
            right=sum(right) / most,
            legal=share["img_legal"] * drawn / most,
            readable=share["parse_frame_success"] * drawn / most,
            progress=unbroken / most,
            form=float(not found.unparsed) if ended and episode.answer else 0.0,
        )

    def judge(self, sample: Sample, drawings: Iterable[Content], answer: str | None = None) -> Marks:
        """Score drawings, and an answer if there is one, without a game: for reward functions and the reward
        server."""
        opened = list(_up_to_none(map(_opened_picture, drawings)))  # what follows has no place
        try:
            return self._judge(sample, opened, answer)
        except BadPicture:  # found by the image reader: decoding every drawing before would take twice the time
            return self._judge(sample, list(_up_to_none(map(_picture, opened))), answer)

    def _judge(self, sample: Sample, drawings: Sequence[Picture], answer: str | None) -> Marks:
        turns = [Turn("draw", (Part(one, "model"),), reply=Reply(picture=one)) for one in drawings]
        if answer is not None:
            turns.append(Turn("say", (Part(answer, "model"),), reply=Reply(answer)))
        episode = Episode(sample, tuple(turns), settings=_settings(self.mode))
        return self.marks(episode, ended=answer is not None)

    def judge_frame(self, sample: Sample, index: int, drawing: Content) -> Marks:
        """Score one drawing as the frame of this index, whatever the others show. Only `right` and `readable` are
        set."""
        expected = sample.steps or len(sample.frames() if sample.frames else ())
        if not 0 <= index < expected:
            return Marks()
        drawings: list[Content] = [_nothing()] * expected
        drawings[index] = drawing
        marks = self.judge(sample, drawings)
        return Marks(right=float(marks.right > 0), readable=float(marks.readable > 0))


@cache
def worlds() -> tuple[str, ...]:
    """Return the worlds that can be trained on: those with levels."""
    found = ((world.name, world.making) for world in _catalog(()).worlds)
    return tuple(name for name, making in found if making and "level" in {one.name for one in making.arguments})


@lru_cache(maxsize=256)
def named(world: str, seed: int, level: int, look: str) -> tuple[Course, Sample]:
    """Return the sample that a trainer names, and its course. The newest are kept: a group of rollouts has one."""
    course = Course(world)
    return course, course.sample(seed, level, look)


@cache
def _opened(include: tuple[Path, ...], world: str, mode: str) -> tuple[Task, Mode]:
    task = _catalog(include).task(world)
    return task, task.mode(mode)


def _settings(mode: str) -> dict[str, str]:
    return {"mode": mode, "canvas": "own", "steps": "truth"}


def _value(scores: Scores, name: str) -> float:
    return float(scores.values.get(name) or 0.0)


def _opened_picture(content: Content) -> Picture | None:
    """Return what a model sent as an image; None if it is none that we may decode, by its header."""
    if isinstance(content, str):
        return None
    try:
        if isinstance(content, bytes):
            if len(content) > _MOST_BYTES:
                return None
            content = Picture.from_bytes(content)
        width, height = content.size
        return content if width * height <= _MOST_PIXELS else None
    except BadPicture:
        return None


def _picture(content: Content) -> Picture | None:
    """Return what a model sent as an image; None if it cannot be decoded."""
    picture = _opened_picture(content)
    try:
        return picture if picture and picture.values.size else None
    except BadPicture:
        return None


def _up_to_none(pictures: Iterable[Picture | None]) -> Iterator[Picture]:
    for picture in pictures:
        if picture is None:
            return
        yield picture


@cache
def _nothing() -> Picture:
    """Return an image that shows nothing, in the place of frames that are not scored."""
    from PIL import Image

    return Picture.from_image(Image.new("RGB", (1, 1)))


def chat_parts(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """Return parts as the content of a chat message."""
    return [
        {"type": "image_url", "image_url": {"url": part.picture.data_url}}
        if part.picture
        else {"type": "text", "text": part.text or ""}
        for part in parts
    ]


def bytes_in(address: str) -> bytes:
    """Return the bytes of an image in a data URL. Anything else gives no bytes, and nothing is fetched."""
    head, _, data = address.partition(",")
    if not head.startswith("data:") or not head.endswith(";base64") or len(data) > _MOST_BYTES * 4 // 3 + 4:
        return b""
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        return b""


@dataclass(frozen=True)
class _Call:
    """A call of the protocol that waits for the trainer's model."""

    act: Literal["say", "draw"]
    context: Context

    def __await__(self) -> Generator[_Call, Reply, Reply]:
        reply: Reply = yield self
        return reply


class _Trainee(Model):
    async def say(self, context: Context, options: Options) -> Reply:
        return await _Call("say", context)

    async def draw(self, context: Context, options: Options) -> Reply:
        return await _Call("draw", context)


class Game:
    """One episode, turn by turn: the sample of a training seed, or any other sample of the world. It pickles: the
    copy plays the same turns again."""

    def __init__(
        self, course: Course, seed: int = 0, level: int | None = None, look: str = "", *, sample: Sample | None = None
    ) -> None:
        self.course = course
        self.sample = sample or course.sample(seed, level, look)
        self._made_from = None if sample else (seed, level, look)
        self._sent: list[tuple[Content, ...]] = []
        mode = course.opened_mode
        self._desk = Desk(
            _Trainee("trainee"), saying=mode.saying, drawing=mode.drawing, in_words=mode.in_words, blind=mode.blind
        )
        play = mode.protocol.play(self._desk, mode.fill(self.sample, "truth"))
        self._protocol = cast(Coroutine[_Call, Reply | None, None], play)
        self._failure: Failure | None = None
        self._marks = Marks()
        self._call = self._next(None)
        self._seen = 0

    def begin(self) -> Outcome:
        return self._outcome(0.0)

    def step(self, *contents: Content) -> Outcome:
        """Send a reply: its last image if a drawing is wanted, otherwise its texts. Nothing that a model sends raises
        an exception. A turn without the drawing that was wanted ends the episode, as in a run."""
        if self._call is None:
            raise BadInput("this episode has ended", "begin another game")
        self._sent.append(contents)
        if self._call.act == "draw":
            pictures = [found for found in map(_picture, contents) if found is not None]
            reply = Reply(picture=pictures[-1]) if pictures else Reply(finish="no_picture")
        else:
            reply = Reply("\n".join(one for one in contents if isinstance(one, str)))
        self._seen = len(self._desk.context)
        self._call = self._next(reply)
        before, self._marks = self._marks, self.course.marks(self.episode, ended=self._call is None)
        return self._outcome(self.course.weights.reward(self._marks) - self.course.weights.reward(before))

    @property
    def episode(self) -> Episode:
        """The transcript so far."""
        return Episode(self.sample, tuple(self._desk.turns), self._failure, settings=_settings(self.course.mode))

    def _next(self, reply: Reply | None) -> _Call | None:
        try:
            return self._protocol.send(reply)
        except StopIteration:
            return None
        except CallFailed as error:
            self._failure = Failure(error.kind, str(error), error.blames_model)
            return None

    def _outcome(self, reward: float) -> Outcome:
        context = self._call.context if self._call else self._desk.context
        info: dict[str, float | str] = asdict(self._marks)
        if self._failure:
            info["failure"] = self._failure.kind
        parts = tuple(part for part in context.parts[self._seen :] if part.by != "model")
        return Outcome(self._call.act if self._call else "", context, parts, reward, self._call is None, info)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._made_from is None:
            raise BadInput("a game of a given sample cannot be pickled", "make it from a training seed")
        return _replayed, (self.course, self._made_from, tuple(self._sent))


def _replayed(course: Course, made_from: tuple[int, int | None, str], sent: Sequence[tuple[Content, ...]]) -> Game:
    game = Game(course, *made_from)
    for contents in sent:
        game.step(*contents)
    return game
