"""The client of the server, from the package."""

from sketchmark.training.openenv import WorldAction, WorldEnv, WorldObservation, reply_of

__all__ = ["WorldAction", "WorldEnv", "WorldObservation", "reply_of"]
