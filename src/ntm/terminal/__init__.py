"""Output for people: tables and live progress, on a terminal or in a log.

All higher layers use this package, so it knows nothing about networks.
"""
