"""Engines play many jobs at once. They know nothing of protocols, models or run folders: one can replace another."""
