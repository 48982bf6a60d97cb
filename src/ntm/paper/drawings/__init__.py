"""Figures of the paper that fit one task only."""
