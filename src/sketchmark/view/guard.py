"""What every request must have, and what every answer says: the viewer shows a stranger's text on your machine."""

from __future__ import annotations

import hmac
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Guard:
    """Lets a request in only if it names this server and brings the token, once in the address and from then on in a
    cookie. The Host check keeps out a web page that points its own name at loopback; the token keeps out everyone
    else on this machine."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        return await self._answer(scope)(scope, receive, send_guarded)

    def _answer(self, scope: Scope) -> ASGIApp:
        headers = Headers(scope=scope)
        host, _, port = headers.get("host", "").partition(":")
        if host not in ("127.0.0.1", "localhost"):
            return PlainTextResponse("This is not the address of this server.\n", 421)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("The viewer only reads.\n", 405)
        cookie = f"sketchmark_{port or '80'}"
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = dict(query).get("token", "")
        if given and self._is_token(given):
            rest = urlencode([(key, value) for key, value in query if key != "token"])
            path = scope["path"] if not scope["path"].startswith("//") else "/"
            answer = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
            answer.set_cookie(cookie, self.token, httponly=True, samesite="lax")
            return answer
        if self._is_token(cookie_parser(headers.get("cookie", "")).get(cookie, "")):
            return self.app
        return PlainTextResponse(
            "Open the address that `sketchmark view` printed: it holds the key to this page.\n", 403
        )

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())
