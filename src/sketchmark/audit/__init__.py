"""Where a drawing gain comes from, or where it is lost: the cells of one run taken apart (docs/audit.md)."""

from sketchmark.audit.auditing import audit
from sketchmark.audit.findings import Audit, CellScore, Finding, TaskAudit, as_json

__all__ = ["Audit", "CellScore", "Finding", "TaskAudit", "as_json", "audit"]
