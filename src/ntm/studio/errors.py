"""The one way in which the studio says no."""


class RefusedError(Exception):
    """A request that is not granted: an HTTP status, 400 to 503, and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        # What other parts report, and is passed on here, may lack its full stop.
        super().__init__(f"{sentence.rstrip('.')}.")
        self.status = status


def require_few(count: int, most: int, what: str) -> None:
    """Refuse to show more of something than a page can."""
    if count > most:
        raise RefusedError(422, f"This has {count:,} {what}; the studio shows up to {most:,}.")
