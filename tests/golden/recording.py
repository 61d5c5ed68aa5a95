"""A player that keeps every request, and the requests as text that a person can read."""

from __future__ import annotations

from collections.abc import Mapping

from sketchmark import Context, Model, Options, Reply, Sample
from sketchmark.episode.model import Abilities
from sketchmark.media import Picture


class Recorder(Model):
    """Stands before a player and writes down what it is asked, in order."""

    def __init__(self, player: Model) -> None:
        super().__init__(player.name)
        self._player = player
        self.requests: list[tuple[str, Context, Options]] = []
        self.drawings: list[Picture] = []

    @property
    def abilities(self) -> Abilities:
        return self._player.abilities

    async def say(self, context: Context, options: Options) -> Reply:
        self.requests.append(("say", context, options))
        return await self._player.say(context, options)

    async def draw(self, context: Context, options: Options) -> Reply:
        self.requests.append(("draw", context, options))
        return await self._player.draw(context, options)


def transcript(title: str, recorder: Recorder, sample: Sample) -> str:
    """Every request, part by part: `task>` shows, `model>` is what the model said or drew before. A picture is named
    by what it is. A long text is given in full once and then by its first line."""
    names = _names(sample, recorder.drawings)
    lines = [f"# {title}", "# Long texts are written out where they first come, and then named by their first line."]
    seen: set[str] = set()
    for number, (act, context, options) in enumerate(recorder.requests, start=1):
        lines += ["", f"======== request {number}: {act} {_settings(options)}"]
        for part in context:
            assert part.sound is None
            lines.append(f"{part.by}> {_content(part.picture or part.text or '', names, seen)}")
    return "\n".join(lines) + "\n"


def _names(sample: Sample, drawings: list[Picture]) -> dict[str, str]:
    names: dict[str, str] = {}
    for number, picture in enumerate(drawings, start=1):
        names.setdefault(picture.digest, f"drawing {number}")
    shown: Mapping[str, Picture | object] = sample.pictures
    for name, value in shown.items():
        if isinstance(value, Picture):
            names[value.digest] = name
        elif isinstance(value, list):
            names |= {picture.digest: f"{name} {place}" for place, picture in enumerate(value, start=1)}
    return names


def _settings(options: Options) -> str:
    settings = {"max_new_tokens": options.max_new_tokens, "temperature": options.temperature, **options.extra}
    return "(" + ", ".join(f"{key} {value}" for key, value in settings.items() if value is not None) + ")"


def _content(content: str | Picture, names: Mapping[str, str], seen: set[str]) -> str:
    if isinstance(content, Picture):
        return f"<picture: {names[content.digest]}>"
    if content in seen and "\n" in content:
        return content.strip().partition("\n")[0] + " […]"
    seen.add(content)
    first, *rest = content.split("\n")
    return "\n".join([first, *(f"      {line}" if line else "" for line in rest)])
