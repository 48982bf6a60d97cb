"""Measurements that check the paper's claims about the heads, one file per kind of task."""
