"""The error for every request that the studio refuses."""

from collections.abc import Mapping
from typing import Any


class RefusedError(Exception):
    """Refusal of a request: an HTTP status, 400 to 503, and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        # Messages from other parts of the package may lack a full stop.
        super().__init__(f"{sentence.rstrip('.')}.")
        self.status = status


def require_few(count: int, most: int, what: str) -> None:
    """Refuse to show more of something than the page can draw."""
    if count > most:
        raise RefusedError(422, f"This has {count:,} {what}; the studio shows up to {most:,}.")


def sentence_of(problem: Mapping[str, Any], place: str = "") -> str:
    """Describe an error of pydantic in a sentence.

    place: name of the value; the error's own path follows it.
    """
    where = ".".join([*filter(None, [place]), *map(str, problem["loc"])])
    return f"{where[:200] or 'The body'}: {problem['msg'].removeprefix('Value error, ')}."
