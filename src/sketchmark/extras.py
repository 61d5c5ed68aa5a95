"""How an optional dependency is installed here: from the checkout that this installation is, or from the index."""

from __future__ import annotations

import re
from pathlib import Path

_REQUIRED = re.compile(r"""^([\w.-]+)[^;]*;.*\bextra == ["']([\w-]+)["']""")


def install_command(extra: str) -> str:
    """What to type. A checkout installed with `pip install -e` has its extras from the same place: the index may not
    know this version, or may know another."""
    checkout = _checkout()
    return f"pip install -e '{checkout}[{extra}]'" if checkout else f"pip install 'sketchmark[{extra}]'"


def is_installed(extra: str) -> bool:
    """Whether every package of the extra is there: then another install would change nothing."""
    from importlib import metadata  # 20 ms that a command without an error need not pay

    found = [_REQUIRED.match(line) for line in metadata.requires("sketchmark") or ()]
    packages = [one[1] for one in found if one and one[2] == extra]
    return bool(packages) and all(map(_is_there, packages))


def _is_there(package: str) -> bool:
    from importlib import metadata

    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def _checkout() -> str:
    """The folder of an editable install, as short as it can be typed from here; nothing for any other install."""
    import json
    from importlib import metadata
    from urllib.parse import unquote, urlsplit

    try:
        about = json.loads(metadata.distribution("sketchmark").read_text("direct_url.json") or "{}")
        if not about.get("dir_info", {}).get("editable"):
            return ""
        folder = Path(unquote(urlsplit(about["url"]).path))
    except (metadata.PackageNotFoundError, ValueError, KeyError, AttributeError):
        return ""
    return "." if folder == Path.cwd() else str(folder)
