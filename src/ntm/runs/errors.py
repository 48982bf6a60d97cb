"""Errors whose messages tell the user what to do."""


class FolderError(ValueError):
    """A folder with missing or conflicting content; no data is lost."""


class RunError(Exception):
    """A run that cannot continue; the message says why and what to do."""
