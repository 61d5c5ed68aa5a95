"""OpenAI's Batch API: many requests in one job that may take a day, and survives whoever waits for it.

results = await run_job(connect("openai/gpt-6-luna", {}), requests, JobFiles.named(Path("batch"), Path("results")), print)
"""

from sketchmark.models.batch.connection import Connection, connect
from sketchmark.models.batch.files import JobFiles
from sketchmark.models.batch.job import run_job
from sketchmark.models.batch.lines import BatchRequest, Result

__all__ = ["BatchRequest", "Connection", "JobFiles", "Result", "connect", "run_job"]
