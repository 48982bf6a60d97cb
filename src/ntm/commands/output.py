"""Output to streams that cannot encode every character, such as plain ASCII."""

import codecs
from typing import Any, TextIO

_NAME = "ntm-plain"
_BLOCK = "\N{FULL BLOCK}"
# Characters of pictures: bars from low to high, where the full block means one; a dot for zero.
_PLAIN = {chr(0x2580 + height): str(height) for height in range(1, 8)}
_PLAIN |= {_BLOCK: "#", "\N{MIDDLE DOT}": ".", "\N{SUPERSCRIPT TWO}": "2"}


def make_writable(stream: TextIO | None) -> None:
    """Let a stream replace characters that it cannot encode: pictures become #, dots and digits."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is None or stream is None:
        return
    try:
        _BLOCK.encode(stream.encoding)
    except UnicodeEncodeError:
        codecs.register_error(_NAME, _replaced)
        reconfigure(errors=_NAME)


def _replaced(error: Any) -> tuple[str | bytes, int]:
    """Return the replacement for unencodable characters, and the position after them."""
    missing = error.object[error.start : error.end]
    plain = (_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in missing)
    return "".join(plain), error.end
