"""How many of lmms-eval's own task folders play: `python -m bench.lmms_eval_tasks`."""
