"""Errors whose messages tell the user what to do."""


class FolderError(ValueError):
    """Error for a folder with missing or conflicting content; no data is lost."""


class RunError(Exception):
    """Error for a run that cannot be used or continued; the message says why and what to do."""
