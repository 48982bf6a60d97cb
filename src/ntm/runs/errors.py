"""Errors whose message is a sentence that tells the user what to do."""


class FolderError(ValueError):
    """A folder does not hold, or already holds, what is asked of it; nothing is lost."""


class RunError(Exception):
    """A run cannot continue; the message is a sentence that says why and what to do."""
