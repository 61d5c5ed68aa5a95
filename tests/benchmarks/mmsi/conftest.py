"""No test calls the hub: a missing dataset must be an error at once."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
