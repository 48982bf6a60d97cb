"""Output for people: tables and live progress, on a terminal or in a log.

Every layer above prints with these parts, so they know nothing about networks.
"""
