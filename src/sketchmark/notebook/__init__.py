"""A run as Python holds it: it shows itself, gives its episodes with their pictures, and becomes a data frame."""

from sketchmark.notebook.episodes import Episodes, PlayedEpisode
from sketchmark.notebook.run import Run

__all__ = ["Episodes", "PlayedEpisode", "Run"]
