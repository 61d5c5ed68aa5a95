"""Task files: the YAML in which a task is declared, how it is read, checked, and filled in for a sample."""
