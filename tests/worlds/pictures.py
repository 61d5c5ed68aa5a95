"""Pictures for the tests: boards built cell by cell, re-encoded pictures."""

from __future__ import annotations

import io

from PIL import Image

from sketchmark.media import Picture


def as_jpeg(picture: Picture, quality: int = 80) -> Picture:
    buffer = io.BytesIO()
    picture.image().save(buffer, "JPEG", quality=quality)
    return Picture.from_bytes(buffer.getvalue())


def on_page(picture: Picture, width: int, height: int, left: int, top: int) -> Picture:
    """The picture laid on a larger white page."""
    page = Image.new("RGB", (width, height), "white")
    page.paste(picture.image(), (left, top))
    return Picture.from_image(page)
