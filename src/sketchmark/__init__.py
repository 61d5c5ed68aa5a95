"""Sketchmark: does drawing help a multimodal model think?"""

__version__ = "0.1.0"
