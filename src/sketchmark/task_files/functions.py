"""`!function module.name` in a task file: the user's own Python, found beside it. Callers ask for trust first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.task_files.importing import Imports, Notify, unheard

FUNCTION = "!function"
"""How the YAML reader keeps the tag: `!function utils.name` is read as `{"!function": "utils.name"}`."""

_INSTALLED_AS = {
    "PIL": "pillow",
    "azure": "azure-identity",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dotenv": "python-dotenv",
    "fitz": "pymupdf",
    "google": "google-genai",
    "lmms_eval": "lmms-eval",
    "rouge_score": "rouge-score",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""Packages that are imported under another name than they are installed by."""


def functions_in(config: object) -> list[str]:
    """Every function that a config names, in order."""
    if isinstance(config, Mapping):
        if set(config) == {FUNCTION}:
            return [str(config[FUNCTION])]
        return [name for value in config.values() for name in functions_in(value)]
    if isinstance(config, list):
        return [name for value in config for name in functions_in(value)]
    return []


def named_from(config: Any, there: str, folder: Path) -> Any:
    """A config of a file in another folder, whose functions lie beside it there: `../utils.name`."""
    if isinstance(config, Mapping):
        if set(config) == {FUNCTION}:
            name = str(config[FUNCTION])
            return {FUNCTION: f"{there}/{name}" if _file(folder, name.rpartition(".")[0]).is_file() else name}
        return {key: named_from(value, there, folder) for key, value in config.items()}
    return [named_from(value, there, folder) for value in config] if isinstance(config, list) else config


def _file(folder: Path, module: str) -> Path:
    """`utils` is `utils.py`, `sub.utils` is `sub/utils.py`; what stands before a slash is another folder."""
    there, _, name = module.rpartition("/")
    return folder / there / f"{name.replace('.', '/')}.py"


class Functions:
    """The functions that one task file names. Nothing is run before one of them is asked for."""

    def __init__(self, names: list[str], folder: Path, provided: Mapping[str, str], notify: Notify = unheard) -> None:
        self._folder, self._provided, self._notify = folder, provided, notify
        self._imports: dict[Path, Imports] = {}
        self._wanted: dict[str, set[str]] = {}
        for name in names:
            self._wanted.setdefault(name.rpartition(".")[0], set()).add(name.rpartition(".")[2])

    @property
    def files(self) -> list[str]:
        """What naming them runs, as one would call it: a file beside the task file, or a module."""
        named = [name for name in self._wanted if name]
        return [f"{name}.py" if _file(self._folder, name).is_file() else name for name in named]

    def __getitem__(self, entry: Mapping[str, Any]) -> Callable[..., Any]:
        found = self.value(entry)
        if not callable(found):
            raise BadInput(f"!function {entry[FUNCTION]} is no function")
        return found  # type: ignore[no-any-return]

    def value(self, entry: Mapping[str, Any]) -> Any:
        """What has that name, which need not be a function."""
        module_name, _, name = str(entry[FUNCTION]).rpartition(".")
        if not module_name:
            raise BadInput(f"!function {name} names no module", f"write !function utils.{name} for one in utils.py")
        with blamed(f"!function {entry[FUNCTION]}", "cannot be loaded"):
            module = self._module(module_name, name)
        if (found := getattr(module, name, None)) is None:
            raise BadInput(f"!function {entry[FUNCTION]}: there is no such function in {module.__file__}")
        return found

    def _module(self, name: str, wanted: str) -> ModuleType:
        place = (self._folder / name.rpartition("/")[0]).resolve()
        imports = self._imports.setdefault(place, Imports(place, self._provided, self._notify))
        file = _file(self._folder, name)
        if file.is_file():
            return imports.run(file, frozenset(self._wanted.get(name, ())))
        try:
            return import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name.partition(".")[0]:
                raise
        try:
            return imports(name, fromlist=("__name__",))
        except ModuleNotFoundError as error:
            top = name.partition(".")[0]
            if top in _INSTALLED_AS or not f"{name}.".startswith(f"{error.name}."):
                raise
            raise BadInput(
                f"!function {name}.{wanted}: there is no {_file(Path(), name)} in {self._folder}",
                f"nor is a module {top} installed",
            ) from error


@contextmanager
def blamed(what: str, how: str = "failed") -> Iterator[None]:
    """An error in the user's code is one line that says where; also an attempt to end the program."""
    try:
        yield
    except (SketchmarkError, KeyboardInterrupt, GeneratorExit):
        raise
    except ModuleNotFoundError as error:
        raise BadInput(f"{what} {how}: there is no module {error.name}", _to_install(error.name or "")) from error
    except (Exception, SystemExit) as error:  # the user's code: anything may come
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise BadInput(f"{what} {how}: {reason}") from error


def _to_install(module: str) -> str:
    top = module.partition(".")[0]
    package = _INSTALLED_AS.get(top, top)
    if find_spec(top) is not None:
        return f"{package} is installed here, in a version that has none"
    if top == "lmms_eval":
        return f"pip install {package} (2.4 GB), or --include the task where it lies in a copy of lmms-eval's source"
    return f"pip install {package}, if that is its name"
