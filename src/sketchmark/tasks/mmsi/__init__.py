"""MMSI-Bench (https://arxiv.org/abs/2505.23764): spatial questions about several pictures at once."""
