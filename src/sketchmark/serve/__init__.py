"""An OpenAI-compatible server on loopback in front of any Sketchmark model: `sketchmark serve`.

It lets other harnesses drive the same model, and is the far end of the wire in our own tests:

    with serving(model) as base_url:
        client = openai.AsyncOpenAI(base_url=base_url, api_key="any")
"""

from sketchmark.serve.app import make_app
from sketchmark.serve.faults import Faults
from sketchmark.serve.running import serving

__all__ = ["Faults", "make_app", "serving"]
