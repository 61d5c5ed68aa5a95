"""OpenAI's Batch API: many requests in one job that may take a day, and survives whoever waits for it.

files = JobFiles.named(Path("batch"), Path("results"))
results = await run_job(connect("openai/gpt-6-luna", {}), requests, files, print)
"""

from sketchmark.models.batch.connection import Connection, connect
from sketchmark.models.batch.files import JobFiles
from sketchmark.models.batch.job import run_job
from sketchmark.models.batch.lines import BatchRequest, Result

__all__ = ["BatchRequest", "Connection", "JobFiles", "Result", "connect", "run_job"]
