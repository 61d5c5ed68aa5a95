"""What a proxy's or a framework's error page says, without what nobody sees of it."""

from __future__ import annotations

import pytest

from sketchmark.models.diagnosis import told, words_in


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<html><head><TITLE>502 Bad &amp; Gateway</title></head><body>nginx</body></html>", "502 Bad & Gateway"),
        ("<p>No <b>model</b> here</p><script>alert('x')</script><p>Sorry</p>", "No model here Sorry"),
        ("<style>p {color: red}</style><p>Wrong path</p><!-- trace: secret -->", "Wrong path"),
        ("<p>Cut off</p><script>never closed", "Cut off"),
    ],
)
def test_a_page_is_told_by_its_title_or_by_what_is_to_be_read_on_it(page: str, words: str) -> None:
    assert words_in(page) == words


@pytest.mark.parametrize("body", ["<html><title>503</title></html>", "<h1>503</h1>", "503", ""])
def test_a_number_alone_says_nothing_and_is_told_as_what_it_means(body: str) -> None:
    assert told(503, body) == "HTTP 503: Service Unavailable"
