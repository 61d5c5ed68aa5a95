"""Sketchmark's generated worlds for OpenEnv: the client and its types."""

from .client import WorldAction, WorldEnv, WorldObservation, reply_of

__all__ = ["WorldAction", "WorldEnv", "WorldObservation", "reply_of"]
