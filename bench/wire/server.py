"""The far end of the comparison: chat completions after a fixed delay, in a process of its own and as cheap as it can
be, so that what is measured is the client.

    python -m bench.wire.server [PORT]

It reads requests by their Content-Length, notes which samples it was asked about (`sample N` in the prompt) and
answers each with a letter. `GET /asked` tells how many requests came, of how many samples, and how many bytes.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from dataclasses import dataclass, field

DELAY = 0.05
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_SAMPLE = re.compile(rb"sample (\d+)")
_WINDOW = 4096
"""The prompt stands before or behind the picture; base64 has no blanks, so only the ends need to be looked at."""


def answer_to(sample: int) -> str:
    return "ABCD"[sample % 4]


@dataclass
class Asked:
    requests: int = 0
    bytes: int = 0
    samples: set[int] = field(default_factory=set)
    connections: int = 0


class Connection(asyncio.Protocol):
    def __init__(self, asked: Asked, delay: float) -> None:
        self._asked, self._delay = asked, delay
        self._head = b""
        self._left = 0
        self._start = self._end = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._asked.connections += 1

    def data_received(self, data: bytes) -> None:
        if not self._left:
            self._head += data
            head, gap, data = self._head.partition(b"\r\n\r\n")
            if not gap:
                return
            self._head = b""
            if _CHUNKED.search(head):
                raise ValueError("this server reads bodies with a length only")
            found = _LENGTH.search(head)
            self._left = int(found[1]) if found else 0
            self._get = head.startswith(b"GET")
            self._start = self._end = b""
            self._asked.bytes += self._left
            if b"\r\nexpect: 100-continue" in head.lower():
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if len(self._start) < _WINDOW:
            self._start += data[:_WINDOW]
        self._end = (self._end + data[-_WINDOW:])[-_WINDOW:]
        self._left -= len(data)
        if not self._left:
            self._whole()

    def _whole(self) -> None:
        if self._get:
            asked = self._asked
            told = {"requests": asked.requests, "samples": len(asked.samples), "bytes": asked.bytes}
            self._send({**told, "connections": asked.connections})
            return
        found = _SAMPLE.search(self._start) or _SAMPLE.search(self._end)
        sample = int(found[1]) if found else -1
        self._asked.requests += 1
        self._asked.samples.add(sample)
        asyncio.get_running_loop().call_later(self._delay, self._send, completion(answer_to(sample)))

    def _send(self, body: object) -> None:
        data = json.dumps(body).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(data)
        self._transport.write(head + data)


def completion(text: str) -> object:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "bench",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 400, "completion_tokens": 1, "total_tokens": 401},
    }


async def main() -> None:
    asked = Asked()
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    server = await asyncio.get_running_loop().create_server(lambda: Connection(asked, DELAY), "127.0.0.1", port)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
