"""The error that is raised for every request that the studio does not accept."""

from collections.abc import Mapping
from typing import Any


class RefusedError(Exception):
    """Error for a request that is not accepted: an HTTP status, 400 to 503, and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        # Messages from other parts of the package may lack a full stop.
        super().__init__(f"{sentence.rstrip('.')}.")
        self.status = status


def require_few(count: int, most: int, what: str) -> None:
    """Raise RefusedError if `count` is larger than `most`; `what` names what is counted."""
    if count > most:
        raise RefusedError(422, f"This has {count:,} {what}; the studio shows up to {most:,}.")


def sentence_of(problem: Mapping[str, Any], place: str = "") -> str:
    """Describe an error of pydantic in a sentence.

    place: name of the checked value; the path to the wrong part is added after this name.
    """
    where = ".".join([*filter(None, [place]), *map(str, problem["loc"])])
    return f"{where[:200] or 'The body'}: {problem['msg'].removeprefix('Value error, ')}."
