"""MMMU (https://arxiv.org/abs/2311.16502) and MMMU-Pro (https://arxiv.org/abs/2409.02813)."""
