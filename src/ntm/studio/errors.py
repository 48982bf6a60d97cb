"""The one way in which the studio says no."""


class RefusedError(Exception):
    """A request that is not granted: an HTTP status, 400 to 499, and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        # What other parts report, and is passed on here, may lack its full stop.
        super().__init__(f"{sentence.rstrip('.')}.")
        self.status = status
