"""Samples from the rows of a question file: images, type, options and answer.

Images are files in the folder of the question file or of --data, or bytes in the row.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal, get_args
from urllib.parse import urlsplit
from urllib.request import url2pathname

from sketchmark.answers import plain
from sketchmark.answers.choices import options_of
from sketchmark.answers.vocabulary import number
from sketchmark.answers.yes_no import NO, YES
from sketchmark.benchmarks.questions import Columns, listed, text
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput, BadPicture
from sketchmark.files.tables import Row, inside
from sketchmark.media import Picture

MOST_PICTURES = 100
MOST_BYTES = 50_000_000
"""Most bytes of one image file."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}:(?://|image/)")
_SAVE_IT = "save it next to the question file and write its path"


Look = Callable[[Picture], object]
"""Check of an image; raises BadPicture."""


def header(picture: Picture) -> None:
    _ = picture.size


class Decoding:
    """Check that decodes each image once, to find truncated files. Animated images are refused: servers use the
    first frame, all frames, or none."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def __call__(self, picture: Picture) -> None:
        if picture.digest not in self._seen:
            picture.image()
            if picture.is_animated:
                raise BadPicture("it is animated", "save the frame that is meant")
            self._seen.add(picture.digest)


def pictures_of(value: Any, places: Sequence[Path], look: Look = header) -> list[Picture]:
    """Return one or several images, given as paths, bytes, or `{"bytes": …}` as in datasets."""
    several = [value] if isinstance(value, (bytes, dict)) else listed(value, "pictures")
    if len(several) > MOST_PICTURES:
        raise BadInput(f"{len(several)} pictures", f"a question shows at most {MOST_PICTURES}")
    found = []
    for place, one in enumerate(several, start=1):
        picture = _picture(one, places)
        try:
            look(picture)
        except BadPicture as error:
            name = repr(one[:200]) if isinstance(one, str) else str(place)
            raise BadInput(f"the picture {name}: {error}") from error
        found.append(picture)
    return found


def _picture(value: Any, places: Sequence[Path]) -> Picture:
    if isinstance(value, dict):
        value = value.get("bytes") or value.get("path")
    if isinstance(value, str):
        value = _unpacked(value.strip()) or value
    if isinstance(value, bytes):
        if len(value) > MOST_BYTES:
            raise BadInput(f"a picture of {len(value)} bytes", f"at most {MOST_BYTES}")
        return Picture.from_bytes(value)
    if isinstance(value, str) and value.strip():
        return Picture.from_file(_file(value.strip(), places))
    raise BadInput("a picture that is neither a path nor bytes", "a path relative to the file's folder")


_SHORTEST_BASE64 = 100
"""Characters of an image in base64; shorter texts are paths."""
_IMAGE_BYTES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM", b"II*\x00", b"MM\x00*")
_DATA_URL = re.compile(r"data:image/[\w.+-]{1,40};base64,")
_BASE64 = re.compile(r"[A-Za-z0-9+/_\s-]+={0,2}\s*")


def _unpacked(value: str) -> bytes | None:
    """Return the bytes of an image in base64, also as a data URL; None if the text is not one."""
    found = _DATA_URL.match(value)
    body = value[found.end() :] if found else value
    if (not found and len(body) < _SHORTEST_BASE64) or len(body) > 2 * MOST_BYTES or not _BASE64.fullmatch(body):
        return None
    try:
        made = base64.b64decode(re.sub(r"\s", "", body).translate(str.maketrans("-_", "+/")), validate=True)
    except ValueError:
        return None
    return made if made.startswith(_IMAGE_BYTES) else None


def _file(name: str, places: Sequence[Path]) -> Path:
    path = _path(name)
    kept: BadInput | None = None
    for place in places:
        try:
            found = inside(place, path, "pictures")
            if found.is_file():
                if found.stat().st_size > MOST_BYTES:
                    raise BadInput(f"the picture {name[:200]!r} has more than {MOST_BYTES} bytes")
                return found
        except BadInput as error:
            kept = error
        except (OSError, ValueError) as error:  # not a valid file name
            why = error.strerror if isinstance(error, OSError) else error
            raise BadInput(f"there cannot be a picture {name[:200]!r}: {why}") from error
    where = " or ".join(map(str, places))
    raise kept or BadInput(
        f"there is no picture {name[:200]!r} in {where}", "paths are relative to the file's folder or to --data"
    )


def _path(name: str) -> str:
    """Return a path, or the path of a `file:` address. No other address is followed."""
    if not _ADDRESS.match(name):
        return name
    parts = urlsplit(name)
    if parts.scheme.lower() == "file" and parts.netloc in ("", "localhost"):
        return url2pathname(parts.path)
    raise BadInput(f"the picture {name[:80]!r} is an address, and nothing is fetched", _SAVE_IT)


Type = Literal["choice", "yes_no", "number", "exact", "judged"]
TYPES: tuple[Type, ...] = get_args(Type)

_TYPES: dict[str, Type] = {name: name for name in TYPES} | {
    "multiple_choice": "choice",
    "multi_choice": "choice",
    "multi_choice_question": "choice",
    "multiple_choice_question": "choice",
    "mc": "choice",
    "mcq": "choice",
    "numeric": "number",
    "exact_match": "exact",
    "judge": "judged",
    "yes/no": "yes_no",
}
_OWN_LETTER = re.compile(r"\(?([A-Z])[.):]\s+(?=\S)|\(([A-Z])\)\s*(?=\S)")


@dataclass(frozen=True)
class Truth:
    """The ground truth of a row. `options` are in order, or by letter if the question lists them."""

    type: Type
    answer: str | bool | list[str]
    options: list[str] | dict[str, str] | None = None
    tolerance: float = 0.0

    @property
    def target(self) -> dict[str, Any]:
        found: dict[str, Any] = {"type": self.type, "answer": self.answer}
        if self.options:
            found["options"] = self.options
        if self.tolerance:
            found["tolerance"] = self.tolerance
        return found


def truth_of(values: Mapping[str, Any], question: str, *, type: str = "", tolerance: str = "") -> Truth:
    """Return the ground truth. Its type is the row's `type`, or follows from the options or the answer.

    `type` and `tolerance` are defaults for rows without them.
    """
    if "answer" not in values:
        raise BadInput("no answer", "every question needs one; for `judged` it is a reference answer")
    answer, options = values["answer"], _options(values.get("options"))
    lists = dict(options_of(question)) if options is None and isinstance(answer, str) else {}
    chooses = options is not None or _letter(answer) in lists or bool(_lettered(answer, lists))
    chosen = _type(values.get("type")) or ("choice" if chooses else _type(type) or _guessed(answer, values))
    if options and chosen != "choice":
        raise BadInput(f"options, but the type is {chosen}", "drop one of the two")
    if "tolerance" in values and chosen != "number":
        raise BadInput(f"a tolerance, but the type is {chosen}", "drop one of the two")
    if chosen == "choice":
        known = options or lists
        if not known:
            raise BadInput("a choice without options", "a column `options`: a JSON list, or separated by ` | `")
        return Truth("choice", _right_letter(answer, known), known)
    if chosen == "number":
        return _number(answer, values.get("tolerance", tolerance))
    if chosen == "yes_no":
        return Truth("yes_no", _yes(answer))
    accepted = [text(one, "answer") for one in _accepted(answer)]
    if not accepted or not all(map(plain, accepted)):
        raise BadInput(f"the answer {str(answer)[:80]!r} has no words", "write a right answer")
    return Truth(chosen, accepted if len(accepted) > 1 else accepted[0])


def _type(value: Any) -> Type | None:
    if not value or _spelled(value) in _UNSAID:
        return None
    found = _TYPES.get(_spelled(value))
    if found is None:
        raise BadInput(
            f"the type {str(value)[:80]!r} is not known",
            f"{', '.join(TYPES)}; your own grouping goes into a column `category`",
        )
    return found


_UNSAID = ("open", "open_ended", "short_answer", "free_form", "vqa")
"""Types of other tools that say only that there are no options; ours then follows from the answer."""


def _spelled(value: Any) -> str:
    return str(value).strip().lower().replace("-", "_").replace(" ", "_")


def _guessed(answer: Any, values: Mapping[str, Any]) -> Type:
    if isinstance(answer, bool) or (isinstance(answer, str) and plain(answer) in ("yes", "no", "true", "false")):
        return "yes_no"
    if "tolerance" in values or (not isinstance(answer, (list, dict)) and number(str(answer)) is not None):
        return "number"
    return "exact"


def _options(value: Any) -> list[str] | None:
    """Return the options in order. Letters (`A. red`) are removed if all options have them."""
    if value is None:
        return None
    if isinstance(value, dict):
        letters = [str(key).strip().upper() for key in value]
        if letters != list(ascii_uppercase[: len(letters)]):
            raise BadInput(f"options by the letters {', '.join(letters)[:80]}", "A, B, C … in their order, or a list")
        value = list(value.values())
    options = [text(one, "options") if one is not None else "" for one in listed(value, "options")]
    own = [_OWN_LETTER.match(option) for option in options]
    if [found and (found[1] or found[2]) for found in own] == list(ascii_uppercase[: len(options)]):
        options = [option[found.end() :] for option, found in zip(options, own, strict=True) if found]
    if not 2 <= len(options) <= len(ascii_uppercase):
        raise BadInput(
            f"{len(options)} option{'s' * (len(options) != 1)}", "2 to 26: a JSON list, or separated by ` | `"
        )
    if not all(options):
        raise BadInput("an option is empty")
    if twice := [option for at, option in enumerate(options) if option in options[:at]]:
        raise BadInput(f"the option {twice[0][:80]!r} appears twice")
    return options


def _letter(answer: Any) -> str:
    """Parse an answer that is a letter, as `B`, `b`, `(B)` or `B.`; else empty."""
    bare = answer.strip().strip("().:").upper() if isinstance(answer, str) else ""
    return bare if len(bare) == 1 and bare in ascii_uppercase else ""


def _lettered(answer: Any, options: Mapping[str, str]) -> str:
    """Parse the letter of an answer that is an option after its letter, `B. green`; else empty."""
    own = _OWN_LETTER.match(answer) if isinstance(answer, str) else None
    letter = (own[1] or own[2]) if own else ""
    return letter if own and letter in options and plain(options[letter]) == plain(answer[own.end() :]) else ""


def _accepted(answer: Any) -> list[Any]:
    """Return the accepted answers. `[3, 4]` as text is refused: two answers or one position."""
    several = listed(answer, "answer")
    if isinstance(answer, str) and not all(isinstance(one, str) for one in several):
        raise BadInput(
            f"the answer {answer[:80]!r} can be one or a list", 'write ["3", "4"] for any of them, ["[3, 4]"] for one'
        )
    return several


def _right_letter(answer: Any, options: list[str] | dict[str, str]) -> str:
    known = options if isinstance(options, dict) else dict(zip(ascii_uppercase, options, strict=False))
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    said = text(answer, "answer") if not isinstance(answer, bool) else str(answer).lower()
    same = [letter for letter, option in known.items() if option == said]
    same = same or [letter for letter, option in known.items() if plain(option) == plain(said)]
    same = same or list(_lettered(said, known))
    found = {*same, *({_letter(said)} & known.keys())}
    if len(found) > 1:
        raise BadInput(
            f"the answer {said[:80]!r} can be the options {' and '.join(sorted(found))}",
            "it is the letter of one and the text of another: write the text of an option, or reorder them",
        )
    if not found:
        raise BadInput(
            f"the answer {said[:80]!r} is neither a letter nor the text of its {len(known)} options",
            "option numbers are not accepted: they could start at 0 or 1",
        )
    return found.pop()


def _number(answer: Any, tolerance: Any) -> Truth:
    value = None if isinstance(answer, (bool, list, dict)) else number(str(answer))
    if value is None:
        raise BadInput(f"the answer {str(answer)[:80]!r} is not a number")
    said = str(tolerance).strip() if tolerance is not None else ""
    if not said:
        return Truth("number", str(answer))
    size = number(said)
    if size is None or size < 0 or not math.isfinite(size):
        raise BadInput(
            f"the tolerance {said[:80]!r} is not a number of at least 0", "0.5, or a percentage of the answer: 5%"
        )
    return Truth("number", str(answer), tolerance=abs(value) * size / 100 if said.endswith("%") else size)


def _yes(answer: Any) -> bool:
    if isinstance(answer, bool):
        return answer
    said = plain(str(answer))
    if said in YES or said in NO:
        return said in YES
    raise BadInput(f"the answer {str(answer)[:80]!r} is neither yes nor no")


_LONGEST_NAME = 200
"""Most characters of an id, a category or a cluster."""


@dataclass(frozen=True)
class QuestionFile:
    """A question file and the defaults for its rows."""

    path: Path
    places: tuple[Path, ...]
    """Folders with images."""
    type: str = ""
    tolerance: str = ""

    @classmethod
    def located(cls, file: str, folder: Path, data: Path | None, type: str = "", tolerance: str = "") -> QuestionFile:
        """Locate `file` and its images in `folder` or in the folder --data."""
        if data is not None and not data.exists():
            raise BadInput(f"--data {data} does not exist", "name the folder with the images")
        places = (folder, *([data] if data is not None and data.is_dir() else []))
        home = next((place for place in places if (place / file).exists()), folder)
        try:
            inside(home, file, "")
        except BadInput as error:
            told = f"the question file {home / file} leads out of its folder"
            raise BadInput(told, "name the file itself: image paths are relative to its folder") from error
        return cls(home / file, places, type, tolerance)

    def sample(self, number: int, row: Row, instructions: Mapping[str, str], look: Look = header) -> Sample:
        """Build the sample of a row, or raise BadInput. `look` checks each image."""
        columns = Columns.of(row)
        values = columns.values(row)
        if "question" not in values:
            filled = ", ".join([*columns.named.values(), *columns.unused])[:200]
            raise BadInput("no question", f"the row has: {filled or 'nothing'}")
        question = text(values["question"], "question")
        if "hint" in values:
            question = f"Hint: {text(values['hint'], 'hint')}\n{question}"
        truth = truth_of(values, question, type=self.type, tolerance=self.tolerance)
        pictures = pictures_of(values["pictures"], self.places, look) if "pictures" in values else []
        fields = {"question": question, "options": "", "instruction": instructions.get(truth.type, "")}
        if isinstance(truth.options, list):
            letters = zip(ascii_uppercase, truth.options, strict=False)
            fields["options"] = "".join(f"{letter}. {option}\n" for letter, option in letters)
        if "generation_prompt" in values:
            fields |= {"generation_prompt": text(values["generation_prompt"], "generation_prompt"), "variant": "own"}
        return Sample(
            id=_name(values, "id") or f"row-{number}",
            pictures={"visuals": pictures},
            fields=fields,
            target=truth.target,
            groups=_groups(values, pictures),
        )


def _groups(values: Mapping[str, Any], pictures: list[Picture]) -> dict[str, str | int | float]:
    """Return category and cluster. Questions about the same image are a cluster, unless the file has clusters."""
    category, cluster = _name(values, "category"), _name(values, "cluster")
    cluster = cluster or (pictures[0].identity[:16] if pictures else "")
    return {**({"category": category} if category else {}), **({"cluster": cluster} if cluster else {})}


def _name(values: Mapping[str, Any], column: str) -> str:
    found = text(values[column], column) if column in values else ""
    if len(found) > _LONGEST_NAME:
        raise BadInput(f"{column} has {len(found)} characters", f"at most {_LONGEST_NAME}")
    return found
