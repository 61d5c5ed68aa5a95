"""UniG2U-Bench (https://arxiv.org/abs/2603.03241): thirty subtasks, each asked directly and after a drawing."""
