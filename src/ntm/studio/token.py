"""The studio's token, which stays the same when the studio starts again.

Because the token stays the same, bookmarks and open pages still work. Each user has one token, in
a file that only this user can read.
"""

import os
import secrets
from pathlib import Path

_LENGTH = 32  # characters of a token


def lasting_token() -> str:
    """Return this user's token; if it cannot be saved, every call returns a new token."""
    file = _folder() / "studio-token"
    try:
        kept = file.read_text(encoding="ascii")
        if len(kept) == _LENGTH and _is_private(file):
            return kept
    except (OSError, ValueError):
        pass
    token = secrets.token_urlsafe(_LENGTH * 3 // 4)
    _keep(token, file)
    return token


def _folder() -> Path:
    """Return the folder for state files: ntm in XDG_STATE_HOME, or in ~/.local/state."""
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    state = named if named.is_absolute() else Path("~/.local/state").expanduser()
    return state / "ntm"


def _is_private(file: Path) -> bool:
    """Return whether only the owner can access a file; on Windows, this is not checked."""
    return os.name == "nt" or file.stat().st_mode & 0o077 == 0


def _keep(token: str, file: Path) -> None:
    """Write the token to a new file that only the owner can read, if possible."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.touch(mode=0o600, exist_ok=False)
        file.write_text(token, encoding="ascii")
    except OSError:
        pass  # for example a read-only home folder
