"""MedEvalKit's own arithmetic, accidents included, so that numbers made with it can be reproduced.

`upstream` is its main branch, `fork` the fork with the image-index protocol. Nothing here is a recommendation: the
default scoring (`strict`) lives beside this package. Every accident is one rule; they are listed
in docs/benchmarks/medical.md, "Accidents".
"""

from typing import Literal

Code = Literal["upstream", "fork"]
"""Whose accidents: MedEvalKit's main branch, or the fork's."""
