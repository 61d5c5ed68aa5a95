"""The server of Sketchmark's worlds for OpenEnv. Loopback only, unless --host names another address."""

from __future__ import annotations

import argparse

from sketchmark.training.openenv import make_app, serve

app = make_app(hosts=("*",))  # for uvicorn in a container: `server.app:app`


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8433)
    given = parser.parse_args()
    serve(host=given.host, port=given.port)


if __name__ == "__main__":
    main()
