"""Hostile text, as a model, a dataset or an untrusted run folder might hold."""

SCRIPT = "<script>window.pwned = 1</script>"
IMAGE = '<img src=x onerror="window.pwned = 2">'
LINK = "[click me](javascript:window.pwned=3)"
BREAKOUT = "\"'></textarea></style></svg><svg onload=window.pwned=4>"
RIGHT_TO_LEFT = "\u202eדרך המבוך\u202c مرحبا"
LONG = "x" * 200_000
NUL = "before\x00after\x1b[31m"
ALL = "\n".join((SCRIPT, IMAGE, LINK, BREAKOUT, RIGHT_TO_LEFT, NUL))
