"""What all models behind an HTTP API share: pace, retries, picture encoding, and an identity without secrets."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from sketchmark.models.arguments import Arguments
from sketchmark.models.base import Model
from sketchmark.models.calling import Caller
from sketchmark.models.encoding import Encoder
from sketchmark.models.pacing import Pace
from sketchmark.models.secrets import without_credentials


class Endpoint(Model):
    """Base of the adapters. A subclass turns a context into its provider's request, and the reply back; no more."""

    provider: ClassVar[str]
    key_variables: ClassVar[tuple[str, ...]] = ()
    """Where the key is looked for, unless `api_key_env` names another variable."""
    formats: ClassVar[frozenset[str]] = frozenset({"png", "jpeg", "webp", "gif"})

    def __init__(self, name: str, args: Arguments) -> None:
        super().__init__(f"{self.provider}/{name}" if name else self.provider)
        self.base_url = args.text("base_url")
        self.api_key_env = args.text("api_key_env")
        self.timeout = args.above_zero("timeout") or 300.0
        self.max_retries = args.whole("max_retries", 6)
        self._limit_is_given = args.text("max_concurrent") is not None
        self.pace = Pace(args.whole("max_concurrent", 16, least=1), args.above_zero("max_requests_per_minute"))
        self.keys = (self.api_key_env,) if self.api_key_env else self.key_variables
        self._call = Caller(self.name, self.pace, timeout=self.timeout, max_retries=self.max_retries, keys=self.keys)
        self._encoder = Encoder(self.formats)

    def expect(self, at_once: int) -> None:
        """`--concurrency 64` means 64 calls at once, unless `max_concurrent` says otherwise."""
        if not self._limit_is_given:
            self.pace.widen(at_once)

    def identity(self) -> dict[str, Any]:
        return dict(self._identity)

    @cached_property
    def _identity(self) -> dict[str, Any]:
        """Every call's cache key asks for it."""
        url = without_credentials(self.base_url) if self.base_url else None
        known = {"name": self.name, "base_url": url, **self._settings()}
        return {key: value for key, value in known.items() if value is not None}

    def _settings(self) -> dict[str, Any]:
        """What the subclass adds to the identity; None values are dropped."""
        return {}
