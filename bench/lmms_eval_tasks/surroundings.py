"""A machine on which everything is at hand that a task looks for, and nothing else is reached."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
import time
import zipfile
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.lmms_eval_tasks.attempt import MadeUpSet
from bench.lmms_eval_tasks.documents import Document, Inventor
from bench.lmms_eval_tasks.guesses import RATE, picture, sound
from bench.lmms_eval_tasks.judges import AGREES, judge
from bench.lmms_eval_tasks.resources import lay_out
from sketchmark.media.sound import Sound


def surround(home: Path, known: Mapping[str, Any]) -> None:
    media = home / "media"
    media.mkdir()
    picture().save(media / "media.jpg")
    _video(media / "media.mp4")
    (media / "media.wav").write_bytes(Sound.from_samples(sound()["array"], RATE).data)
    picture().save(media / "media.png")
    judge(str(known.get("@judge", AGREES)), str(known.get("@sdk", "")))
    os.environ |= {"HF_HOME": str(home / "hf"), "HOME": str(home), "TMPDIR": str(home)}
    os.environ |= {"LMMS_EVAL_DATASETS_CACHE": str(home / "hf"), "HF_DATASETS_CACHE": str(home / "hf")}
    os.chdir(home)
    time.sleep = lambda seconds: None
    _files_appear(home, media)
    _the_hub(home, media)
    lay_out(home, dict(known.get("@models", {})))
    os.environ |= dict(known.get("@env", {}))
    for name, holds in dict(known.get("@files", {})).items():
        if not (home / name).is_file():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(holds if isinstance(holds, str) else json.dumps(Inventor(holds).table()))


def other_sets(inventor: Inventor) -> None:
    """A data set that a task's own code loads beside its documents is made up as well."""
    import datasets  # type: ignore[import-untyped]

    loaded = datasets.load_dataset

    class Splits(dict[str, MadeUpSet]):
        def __missing__(self, split: str) -> MadeUpSet:
            return MadeUpSet([Document(inventor, "other/", number) for number in range(inventor.rows)])

    def load(path: str, *args: Any, **kwargs: Any) -> Any:
        if "/" not in path or Path(path).exists() or "data_files" in kwargs:
            return loaded(path, *args, **kwargs)
        return Splits()[""] if "split" in kwargs else Splits()

    datasets.load_dataset = load


def _the_hub(home: Path, media: Path) -> None:
    """Repositories of the hub are folders that hold whatever is asked of them; archives hold the media."""
    import huggingface_hub

    def download(repo_id: str, filename: str, *args: Any, **kwargs: Any) -> str:
        path = home / "hub" / repo_id / filename
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file():
            _file_of_the_hub(path, media)
        return str(path)

    def snapshot(repo_id: str, *args: Any, allow_patterns: str | list[str] | None = None, **kwargs: Any) -> str:
        for pattern in [allow_patterns] if isinstance(allow_patterns, str) else allow_patterns or ():
            if Path(pattern).suffix:
                download(repo_id, pattern.replace("*", "a"))
        (home / "hub" / repo_id).mkdir(parents=True, exist_ok=True)
        return str(home / "hub" / repo_id)

    for name, made in (("snapshot_download", snapshot), ("hf_hub_download", download)):
        setattr(huggingface_hub, name, made)
    huggingface_hub.constants.HF_HOME = os.environ["HF_HOME"]


def _file_of_the_hub(path: Path, media: Path) -> None:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for one in media.iterdir():
                archive.write(one, one.name)
    elif ".tar" in path.name:
        with tarfile.open(path, "w") as packed:
            for one in media.iterdir():
                packed.add(one, one.name)
                packed.add(one, f"inside/{one.name}")
    else:
        path.write_text("[]" if path.suffix == ".json" else "")


_COPIED_FROM = {
    **dict.fromkeys(("mp4", "mkv", "webm", "avi", "mov"), "media.mp4"),
    **dict.fromkeys(("jpg", "jpeg", "gif"), "media.jpg"),
    **dict.fromkeys(("wav", "mp3", "flac", "m4a", "ogg"), "media.wav"),
    "png": "media.png",
}


def _files_appear(home: Path, media: Path) -> None:
    """A media file is made where it is looked for, below the home, and so is a folder of the hub's cache."""

    def file_made(path: Path) -> bool:
        source = _COPIED_FROM.get(path.suffix.lower().removeprefix("."))
        if source is None or not path.is_relative_to(home):
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(media / source, path)
        return True

    def anything_made(path: Path) -> bool:
        if path.suffix or not path.is_relative_to(home / "hf"):
            return file_made(path)
        (path / "main" if path.name == "snapshots" else path).mkdir(parents=True, exist_ok=True)
        return True

    def looked_for(there: Callable[..., bool], made: Callable[[Path], bool]) -> Callable[..., bool]:
        def look(name: Any, *args: Any, **kwargs: Any) -> bool:
            try:
                return there(name, *args, **kwargs) or made(Path(os.fspath(name)).absolute())
            except (TypeError, ValueError):
                return False

        return look

    os.path.exists = looked_for(os.path.exists, anything_made)
    os.path.isfile = looked_for(os.path.isfile, file_made)
    Path.exists = looked_for(Path.exists, anything_made)  # type: ignore[method-assign]
    Path.is_file = looked_for(Path.is_file, file_made)  # type: ignore[method-assign]
    from PIL import Image

    opened = Image.open

    def image(file: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, (str, Path)) and not Path(file).exists():
            raise FileNotFoundError(str(file))
        return opened(file, *args, **kwargs)

    Image.open = image  # type: ignore[assignment]


def _video(path: Path) -> None:
    try:
        av: Any = import_module("av")
    except ImportError:
        path.write_bytes(b"")
        return
    with av.open(str(path), "w") as video:
        stream = video.add_stream("mpeg4", rate=8)
        stream.width, stream.height = 64, 48
        for _ in range(16):
            video.mux(stream.encode(av.VideoFrame.from_image(picture())))
        video.mux(stream.encode())
