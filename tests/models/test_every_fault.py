"""Every adapter through every fault, over real sockets: each ends in one line of a known kind, after known tries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.models.adapters import ADAPTERS, TRIES, failure
from tests.models.broken_server import Broken, BrokenServer, answer, broken, free_port
from tests.models.fake_server import KEY

PAGE = b"<html><body>\n<h1>Bad gateway</h1>\n" + KEY.encode() + b"</body></html>"
ODD = {"choices": "no", "content": [7], "candidates": "no", "data": "no", "id": 7, "status": [], "usage": "no"}
SHIFTED = {
    "choices": [{"message": 7}],
    "content": "no",
    "candidates": [7],
    "data": [7],
    "usage": {"prompt_tokens": []},
}


@dataclass(frozen=True)
class Case:
    """A fault and how a call that meets it ends."""

    kind: str
    fault: Broken
    again: bool = False
    stops: bool = False


def _status(status: int, kind: str, *, again: bool = False, stops: bool = False, **headers: str) -> Case:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Case(kind, Broken(answer(status, headers=named)), again, stops)


def _reply(body: Any) -> Case:
    return Case("bad_reply", Broken(answer(200, body)), again=True)


CASES = {
    "reset": Case("connection", Broken(then="reset"), again=True),
    "closed": Case("connection", Broken(), again=True),
    "reset-mid-body": Case("connection", Broken(answer(200, b"{", missing=99), "reset"), again=True),
    "cut": Case("connection", Broken(answer(200, b'{"id": 1', missing=99)), again=True),
    "no-http": Case("connection", Broken(b"SSH-2.0-OpenSSH_9.6\r\n"), again=True),
    "trickle": Case("timeout", Broken(answer(200, b" ", missing=10**6), "trickle"), again=True),
    "redirects": Case("connection", Broken(then="redirect"), again=True),
    "page": Case("bad_reply", Broken(answer(200, PAGE)), stops=True),
    "half": _reply(b'{"id": "c", "choi'),
    "empty": _reply(b""),
    "null": _reply(b"null"),
    "list": _reply([]),
    "number": _reply(7),
    "other-schema": _reply({"hello": "world"}),
    "odd-types": _reply(ODD),
    "odd-types-below": _reply(SHIFTED),
    "401": _status(401, "auth", stops=True),
    "402": _status(402, "quota", stops=True),
    "403": _status(403, "auth", stops=True),
    "403-page": Case("auth", Broken(answer(403, PAGE))),
    "404": _status(404, "not_found", stops=True),
    "404-page": Case("not_found", Broken(answer(404, PAGE)), stops=True),
    "408": _status(408, "timeout", again=True),
    "409": _status(409, "conflict", again=True),
    "413": _status(413, "bad_request"),
    "422": _status(422, "bad_request"),
    "429": _status(429, "rate_limited", again=True),
    "429-soon": _status(429, "rate_limited", again=True, Retry_After="0.01"),
    "429-tomorrow": _status(429, "quota", stops=True, Retry_After="40000"),
    "500": _status(500, "server_error", again=True),
    "502-page": Case("server_error", Broken(answer(502, PAGE)), again=True),
    "503": _status(503, "server_error", again=True),
    "503-tomorrow": _status(503, "server_error", stops=True, Retry_After="40000"),
    "529": _status(529, "server_error", again=True),
}


@pytest.fixture(scope="module")
def server() -> Iterator[BrokenServer]:
    with broken({name: case.fault for name, case in CASES.items()}) as server:
        yield server


@pytest.mark.parametrize("fault", CASES)
@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_every_adapter_ends_every_fault_in_one_known_way(
    authorities: None, server: BrokenServer, tmp_path: Path, adapter: str, fault: str
) -> None:
    case = CASES[fault]
    server.seen.clear()
    url = f"http://127.0.0.1:{server.port}/{fault}"
    error = await failure(adapter, url, tmp_path, again=case.again, stops=case.stops)
    assert error.kind == case.kind
    where = f"http://127.0.0.1:{server.port}"
    assert (where if case.kind == "connection" else f"{url}/") in str(error), "who was asked is told"
    if fault == "trickle":
        assert f"timeout: no answer from {url}/" in str(error) and "within 0.1 s" in str(error)
    if adapter == "batch-under-way" and fault in ("reset", "closed"):
        assert server.seen == {fault: 2 * TRIES}  # RFC 9112 lets a client ask again for what changes nothing
    elif fault != "redirects":
        assert server.seen == {fault: TRIES if case.again else 1}


@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_a_server_that_was_never_there_stops_the_run_once_it_was_waited_for(
    authorities: None, tmp_path: Path, adapter: str
) -> None:
    port = free_port()
    for url, said in (
        ("http://nowhere.invalid", "no connection to http://nowhere.invalid"),
        (f"http://127.0.0.1:{port}", f"no connection to http://127.0.0.1:{port}"),
    ):
        error = await failure(adapter, url, tmp_path, again=True, stops=True)
        assert error.kind == "connection" and said in str(error), url
    assert "nothing listens there" in str(error) and "start the server, or check host and port" in str(error)


@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_a_server_without_tls_is_told_at_once(
    authorities: None, server: BrokenServer, tmp_path: Path, adapter: str
) -> None:
    url = f"https://127.0.0.1:{server.port}/page"
    error = await failure(adapter, url, tmp_path, again=False, stops=True)
    assert error.kind == "connection" and "write http:// in its address" in str(error)


@pytest.mark.parametrize("certificate", ["unknown", "expired"])
@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_a_certificate_that_does_not_hold_stops_the_run_and_says_which_setting_names_one_that_does(
    authorities: None, certificates: dict[str, Path], tmp_path: Path, adapter: str, certificate: str
) -> None:
    with broken({"page": CASES["page"].fault}, certificates[certificate]) as tls:
        url = f"https://127.0.0.1:{tls.port}/page"
        error = await failure(adapter, url, tmp_path, again=False, stops=True)
    assert error.kind == "connection" and not tls.seen
    assert "certificate" in str(error).lower() and "SSL_CERT_FILE" in str(error)


@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_a_certificate_of_ones_own_holds_where_it_is_named(
    authorities: None, certificates: dict[str, Path], tmp_path: Path, adapter: str
) -> None:
    with broken({"422": CASES["422"].fault}, certificates["trusted"]) as tls:
        error = await failure(adapter, f"https://127.0.0.1:{tls.port}/422", tmp_path, again=False, stops=False)
    assert error.kind == "bad_request" and tls.seen == {"422": 1}


async def test_a_batch_job_without_a_status_is_not_waited_for(authorities: None, tmp_path: Path) -> None:
    with broken({"job": Broken(answer(200, {"id": "batch-1", "object": "batch"}))}) as far:
        url = f"http://127.0.0.1:{far.port}/job"
        assert (await failure("batch-under-way", url, tmp_path, again=True, stops=False)).kind == "bad_reply"


@pytest.mark.parametrize("adapter", ADAPTERS)
async def test_what_a_server_says_in_a_form_of_its_own_is_told(
    authorities: None, tmp_path: Path, adapter: str
) -> None:
    with broken({"said": Broken(answer(422, {"detail": "the picture\nis too large"}))}) as far:
        error = await failure(adapter, f"http://127.0.0.1:{far.port}/said", tmp_path, again=False, stops=False)
    assert "the picture" in str(error) and "is too large" in str(error)
