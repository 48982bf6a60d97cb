"""Output where not every character can be written, for example in plain ASCII."""

import codecs
from typing import Any, TextIO

_NAME = "ntm-plain"
_BLOCK = "\N{FULL BLOCK}"
# The characters of pictures: bars from low to high, of which the highest is a one; and a zero.
_PLAIN = {chr(0x2580 + height): str(height) for height in range(1, 8)}
_PLAIN |= {_BLOCK: "#", "\N{MIDDLE DOT}": ".", "\N{SUPERSCRIPT TWO}": "2"}


def make_writable(stream: TextIO | None) -> None:
    """Let a stream write what its encoding lacks as ASCII: pictures as #, dots and digits."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is None or stream is None:
        return
    try:
        _BLOCK.encode(stream.encoding)
    except UnicodeEncodeError:
        codecs.register_error(_NAME, _replaced)
        reconfigure(errors=_NAME)


def _replaced(error: Any) -> tuple[str | bytes, int]:
    """The replacement of characters that cannot be encoded, and where to continue."""
    missing = error.object[error.start : error.end]
    plain = (_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in missing)
    return "".join(plain), error.end
