"""Puzzle families: rules, generator, renderer (state to picture), reader (picture to state), solver."""
