"""Images and sounds for the browser, and differences between a drawing and the ground-truth image."""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from sketchmark.errors import SketchmarkError
from sketchmark.files import small
from sketchmark.folder import RunFolder
from sketchmark.folder.format import EpisodeLine
from sketchmark.folder.records import drawings_right, sound_names
from sketchmark.media import Picture
from sketchmark.stats.intervals import as_percent
from sketchmark.worlds import installed_worlds

if TYPE_CHECKING:
    from PIL import Image


_MARK = (220, 38, 38)
_SIDE = 640
_TELLS = 24
"""Colour difference from which pixels count as different: resampling and JPEG cause less."""


@dataclass(frozen=True)
class PictureDifference:
    """Difference of a drawing from the ground-truth image.

    `cells` (row, column, drawn, true) if both images can be read as boards, `lines` (number, drawn, true) if their
    world reads them as text, else the proportion of different pixels.
    """

    kind: str
    cells: tuple[tuple[int, int, str, str], ...] = ()
    lines: tuple[tuple[int, str, str], ...] = ()
    share: float = 0.0
    size: tuple[int, int] = (0, 0)

    def in_words(self) -> str:
        if self.kind == "pixels":
            return f"{as_percent(self.share)}% of the pixels differ from the ground-truth image"
        if self.kind == "lines":
            said = [
                f"line {number}: {drawn or 'nothing'}, not {true or 'nothing'}" for number, drawn, true in self.lines
            ]
            more = f" and {len(said) - 4} more" if len(said) > 4 else ""
            return f"as text, {'; '.join(said[:4])}{more}" if said else "as text, everything is as it should be"
        if not self.cells:
            return "every cell is as it should be"
        named = [f"row {r + 1}, column {c + 1}: {drawn}, not {true}" for r, c, drawn, true in self.cells[:4]]
        more = f" and {len(self.cells) - 4} more" if len(self.cells) > 4 else ""
        return f"{len(self.cells)} of {self.size[0] * self.size[1]} cells differ ({'; '.join(named)}{more})"


def difference(target: Mapping[str, Any], drawn: Picture, true: Picture) -> PictureDifference:
    found = installed_worlds().board_of(target)
    if found is None:
        share = float(_changed(drawn, true).mean())
        lines = _different_lines(target, drawn, true)
        return PictureDifference("pixels" if lines is None else "lines", lines=lines or (), share=share)
    board, rows, cols = found
    seen, wanted = (board.read(picture, rows, cols).grid for picture in (drawn, true))
    cells = tuple(
        (r, c, board.name(seen[r][c]), board.name(wanted[r][c]))
        for r in range(rows)
        for c in range(cols)
        if seen[r][c] != wanted[r][c]
    )
    return PictureDifference("cells", cells, size=(rows, cols))


def _different_lines(
    target: Mapping[str, Any], drawn: Picture, true: Picture
) -> tuple[tuple[int, str, str], ...] | None:
    """Return the lines in which two images differ as text; None if an image cannot be read."""
    world = installed_worlds().of(target)
    texts = [world.reading(picture) for picture in (drawn, true)] if world and world.reading else [None]
    if None in texts:
        return None
    one, other = ((text or "").splitlines() for text in texts)
    pairs = enumerate(zip_longest(one, other, fillvalue=""), start=1)
    return tuple((number, mine, its) for number, (mine, its) in pairs if mine != its)


def overlay(target: Mapping[str, Any], drawn: Picture, true: Picture) -> bytes:
    """Draw the drawing in pale colours with the differing cells framed, or the differing pixels marked."""
    from PIL import Image, ImageDraw

    found = difference(target, drawn, true)
    image, shown = drawn.image(), installed_worlds().board_of(target)
    if shown is None:
        image.thumbnail((_SIDE, _SIDE))
        pale = Image.blend(image, Image.new("RGB", image.size, "white"), 0.65)
        mask = Image.fromarray(_changed(drawn, true)).convert("L").resize(image.size)
        pale.paste(_MARK, mask=mask)
        return _png(pale)
    pale = Image.blend(image, Image.new("RGB", image.size, "white"), 0.45)
    pen = ImageDraw.Draw(pale)
    board, rows, cols = shown
    down, across = board.edges(drawn, rows, cols)
    width = max(2, min(image.size) // 90)
    for row, col, _, _ in found.cells:
        box = (across[col], down[row], across[col + 1] - 1, down[row + 1] - 1)
        pale.paste(image.crop(box), box[:2])
        pen.rectangle(box, outline=_MARK, width=width)
    pale.thumbnail((_SIDE, _SIDE))
    return _png(pale)


MOST_READ = 24
"""Wrong drawings of an episode that are compared with the ground truth cell by cell."""


def frames(folder: RunFolder, line: EpisodeLine, notes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return each drawing of an episode: its image, the ground truth, whether it is right, and the cells that differ.

    A drawing is right or wrong as `drawings_right` says; a board is read again to show where it differs.
    """
    true, verdicts = line.sample.frames or [], iter(drawings_right(line, notes))
    made: list[dict[str, Any]] = []
    said, wrong = "", 0
    for turn in line.turns:
        reply, at = turn.reply, len(made)
        if turn.act == "describe" and made and reply:
            made[-1]["described"] = reply.text[:400]
        elif turn.act != "draw":
            said = reply.text if reply and reply.text else said
        if turn.act != "draw":
            continue
        drawn = reply.picture if reply else None
        seen = next((part.picture for part in turn.added if part.picture), None)
        truth = true[at] if at < len(true) else None
        right = next(verdicts) if drawn else None
        frame: dict[str, Any] = {"drawn": drawn, "true": truth, "right": right, "said": said}
        frame["seen"] = seen if seen != drawn else None
        if not drawn:
            frame["missing"] = f"{reply.finish}{f': {reply.trouble}' if reply.trouble else ''}" if reply else "none"
        elif truth and drawn != truth and right is not True and (wrong := wrong + 1) <= MOST_READ:
            frame |= _marked(folder, line.sample.target, drawn, truth)
        made.append(frame)
        said = ""
    return made


def _marked(folder: RunFolder, target: Mapping[str, Any], drawn: str, true: str) -> dict[str, Any]:
    """Return the difference as text, and boxes around the cells that differ, in proportions of the image."""
    try:
        images = folder.pictures.load(drawn), folder.pictures.load(true)
        found = difference(target, *images)
        told: dict[str, Any] = {"words": found.in_words(), "differs": bool(found.cells) or found.share > 0}
        if found.cells and (shown := installed_worlds().board_of(target)):
            down, across = shown[0].edges(images[0], *shown[1:])
            width, height = images[0].size
            told["boxes"] = [
                [
                    across[c] / width,
                    down[r] / height,
                    (across[c + 1] - across[c]) / width,
                    (down[r + 1] - down[r]) / height,
                ]
                for r, c, *_ in found.cells[:12]
            ]
        told["kind"] = found.kind
        return told
    except (SketchmarkError, OSError) as error:
        return {"words": f"cannot be compared: {error}", "differs": None}


def _changed(drawn: Picture, true: Picture) -> Any:
    """Return the mask of differing pixels, after scaling the ground-truth image to the drawing."""
    import numpy as np

    ours, theirs = drawn.image(), true.image()
    ours.thumbnail((_SIDE, _SIDE))
    a = np.asarray(ours, dtype=np.int16)
    b = np.asarray(theirs.resize(ours.size), dtype=np.int16)
    return np.abs(a - b).max(axis=2) >= _TELLS


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


SIDES = (160, 320, 640)
_BUDGET = 64 * 2**20
_SHOWABLE = ("png", "jpeg", "gif", "webp", "bmp")


class Thumbnails:
    """Cache of small WebP images, most recently used first. Content-addressed names never go stale."""

    def __init__(self, budget: int = _BUDGET) -> None:
        self._budget = budget
        self._bytes = 0
        self._made: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._lock = threading.Lock()
        # An image may have 64 megapixels: memory allows for two decoded at a time.
        self._decoding = threading.Semaphore(2)

    def get(self, folder: RunFolder, name: str, side: int) -> bytes:
        key = (name, min(SIDES, key=lambda known: abs(known - side)))
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        with self._decoding:
            data = small(folder.pictures.load(name), key[1])
        with self._lock:
            self._bytes += len(data) - len(self._made.pop(key, b""))
            self._made[key] = data
            while self._bytes > self._budget:
                self._bytes -= len(self._made.popitem(last=False)[1])
        return data


def original(folder: RunFolder, name: str) -> tuple[bytes, str]:
    """Return bytes and media type as the model saw it; formats that browsers can't show are converted."""
    picture = folder.pictures.load(name).shown()
    if picture.format not in _SHOWABLE:
        picture = Picture.from_image(picture.image())
    return picture.data, picture.media_type


def recording(folder: RunFolder, name: str) -> tuple[bytes, str]:
    """Return bytes and media type of a sound whose content matches its name."""
    sound = folder.pictures.load_sound(name)
    return sound.data, sound.media_type


def in_words(folder: RunFolder, line: EpisodeLine) -> dict[str, str]:
    """Return name → format and size of every sound in an episode, which a browser's player does not show."""
    shown = (part.sound for turn in line.turns for part in turn.added if part.sound)
    return {name: folder.pictures.sound_in_words(name) for name in (*sound_names(line.sample), *shown)}
