"""Questions of your own: a JSONL, CSV or parquet file is a task (docs/your-own-questions.md)."""
