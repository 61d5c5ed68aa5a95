"""The far end of the wire, for `house.py`: a server on loopback that keeps each request and answers by rule."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any

from PIL import Image

VERDICTS = ("Yes", "1", '{"reasoning_visual_score": 4, "answer_visual_score": 2}', "<judge>0</judge>", "No", "0.5")
HEADERS = ("authorization", "api-key", "x-api-key", "x-goog-api-key", "content-type", "accept", "anthropic-version")


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def picture(shade: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), (shade, 40, 90)).save(buffer, "PNG")
    return buffer.getvalue()


def said(body: str) -> str:
    """What a model answers: by the request alone, so that no order matters."""
    choice = int(digest(body.encode())[:4], 16)
    if re.search(r"judge", body[:300]):
        return VERDICTS[choice % len(VERDICTS)]
    if "svg" in body.lower() and choice % 7:
        return f'<svg viewBox="0 0 20 20"><rect x="{choice % 9}" y="3" width="8" height="5" fill="blue"/></svg>'
    words = ("I move right.", "Next, move one step down.", "There are two dogs running.", "yes", "")[choice % 5]
    answer = f"<ANSWER_JSON>{json.dumps((['right', 'down'], ['down'], [1], 0)[choice % 4])}</ANSWER_JSON>"
    letter = "ABCD"[choice % 4]
    return f'{words} {answer} Final answer: ({letter}) <FINAL_ANSWER_JSON>{{"choice": 0}}</FINAL_ANSWER_JSON>'


def answer(path: str, body: str) -> tuple[int, Any]:
    """By what the model is called: e401 refuses, elength is cut, eempty says nothing, epage sends a web page."""
    drawn = base64.b64encode(picture(int(digest(body.encode())[:2], 16))).decode()
    fault = re.search(r"\be(\d\d\d|length|empty|page|filter)\b", path + body[:4000])
    kind = fault[1] if fault else ""
    if kind.isdigit():
        return int(kind), {"error": {"message": f"planned {kind}", "code": kind, "type": "planned"}}
    if kind == "page":
        return 200, "<html>a page</html>"
    text, image = "" if kind == "empty" else said(body), f"data:image/png;base64,{drawn}"
    if path.endswith("/responses"):
        items: list[Any] = [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"}]
        if "image_generation" in body:
            call = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": drawn}
            items.append({**call, "revised_prompt": "a drawing"})
        content = [{"type": "output_text", "text": text, "annotations": []}]
        items.append(
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
        )
        usage = {"input_tokens": 11, "output_tokens": 5, "total_tokens": 16}
        return 200, {
            "id": "resp_1", "object": "response", "model": "m-1", "status": "completed", "output": items,
            "usage": usage,
        }  # fmt: skip
    if "/images/" in path:
        return 200, {
            "created": 1,
            "data": [{"b64_json": drawn}],
            "usage": {"input_tokens": 30, "output_tokens": 70, "total_tokens": 100},
        }
    if path.endswith("/v1/messages"):
        stop = {"length": "max_tokens", "filter": "refusal"}.get(kind, "end_turn")
        content = [{"type": "text", "text": text}] if text else []
        told = {"id": "m", "type": "message", "role": "assistant", "model": "m-1", "content": content}
        usage = {"input_tokens": 11, "output_tokens": 5}
        return 200, {**told, "stop_reason": stop, "stop_sequence": None, "usage": usage}
    if "generateContent" in path:
        parts: list[Any] = [{"text": text, "thoughtSignature": "c2lnbmVk"}]
        if '"IMAGE"' in body:
            parts.append({"inlineData": {"mimeType": "image/png", "data": drawn}, "thoughtSignature": "c2lnbmVk"})
        finish = {"length": "MAX_TOKENS", "filter": "SAFETY"}.get(kind, "STOP")
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": finish}
        return 200, {
            "candidates": [candidate],
            "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 5},
            "modelVersion": "m-1",
        }
    if path.endswith("/chat/completions"):
        spoken: Any = (
            [{"type": "image_url", "image_url": {"url": image}}]
            if '"modalities"' in body and '"image"' in body
            else text
        )
        finish = {"length": "length", "filter": "content_filter"}.get(kind, "stop")
        choice = {"index": 0, "message": {"role": "assistant", "content": spoken}, "finish_reason": finish}
        usage = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
        return 200, {
            "id": "c", "object": "chat.completion", "created": 1, "model": "m-1", "choices": [choice],
            "usage": usage,
        }  # fmt: skip
    return 404, {"error": {"message": "no such path"}}


def on_the_wire(content: str, body: bytes) -> Any:
    """A body with its pictures by digest."""
    if boundary := re.search(r"boundary=\"?([^\";]+)", content):
        parts = [part.strip(b"\r\n-").partition(b"\r\n\r\n") for part in body.split(boundary[1].encode())]
        return sorted(f"{head.decode()} = {_text(data)}" for head, _, data in parts if head)
    text = re.sub(
        r"[A-Za-z0-9+/_-]{80,}={0,2}", lambda found: "base64:" + digest(_bytes(found[0])), body.decode("utf-8")
    )
    try:
        return json.loads(text)
    except ValueError:
        return text


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_" if set("-_") & set(text) else None)
    except ValueError:
        return text.encode()


def far_end(log: Path) -> tuple[str, int]:
    """A server in a process of its own that keeps each request: its address and its process."""
    lock = Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            content = self.headers.get("content-type") or ""
            kept = {
                name: re.sub(r"boundary=.*", "boundary=…", self.headers[name])
                for name in HEADERS
                if name in self.headers
            }
            seen = {"method": self.command, "path": self.path, "headers": kept, "body": on_the_wire(content, body)}
            with lock, log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(seen, ensure_ascii=False) + "\n")
            plain = re.sub(r"boundary=\S+", "", json.dumps(seen["body"]))
            status, reply = answer(self.path.partition("?")[0], plain)
            data = (reply if isinstance(reply, str) else json.dumps(reply)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if isinstance(reply, str) else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if not (child := os.fork()):
        os.close(2)
        server.serve_forever()
    server.server_close()
    return f"http://127.0.0.1:{server.server_address[1]}", child


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return f"bytes:{digest(data)}"
