"""Adapters: one module per provider, imported when a model of it is used."""
