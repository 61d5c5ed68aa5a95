"""Judges that tasks ask: one server on this machine, which says the same of everything."""

from __future__ import annotations

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from importlib.util import find_spec
from typing import Any

AGREES = '{"score": 1, "correct": "yes", "judgement": "yes", "pred": "yes", "reason": "1"}'

_ADDRESSES = (
    "BABYVISION_BASE_URL",
    "OPENAI_API_BASE",
    "OPENAI_BASE_URL",
    "AZURE_ENDPOINT",
    "AZURE_OPENAI_ENDPOINT",
    "API_BASE",
)
_KEYS = (
    "OPENAI_API_KEY",
    "AZURE_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "HF_TOKEN",
    "GEMINI_API_KEY",
    "REKA_API_KEY",
    "BABYVISION_API_KEY",
    "Deepseek_API",
)


def judge(says: str, sdk: str) -> None:
    """Where tasks look for one. Reka's library knows one address only, which is no variable: `sdk` is its name."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Judge", (_Judge,), {"says": says}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/v1"
    os.environ |= dict.fromkeys(_ADDRESSES, address) | dict.fromkeys(_KEYS, "made-up")
    os.environ |= {"OPENAI_API_URL": f"{address}/chat/completions", "PROCESSOR": "gpt-4o-mini"}
    if sdk == "reka" and find_spec(sdk):
        environment: Any = import_module("reka.environment")
        environment.RekaEnvironment.DEFAULT._value_ = address


class _Judge(BaseHTTPRequestHandler):
    says = ""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        said = {"role": "assistant", "content": self.says}
        body = json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "judge",
                "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
                "responses": [{"message": said, "finish_reason": "stop"}],  # where Reka's library looks
                "usage": {
                    "prompt_tokens": 1,
                    "completion_tokens": 1,
                    "total_tokens": 2,
                    "input_tokens": 1,
                    "output_tokens": 1,
                },
            }
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Nothing."""
