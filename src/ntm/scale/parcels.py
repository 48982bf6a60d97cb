"""A run folder as bytes, to be sent from one machine to another."""

from pathlib import Path

from ntm.common.files import remove_leftovers, write_atomically

Parcel = dict[str, bytes]
"""The files of a run folder by their relative path."""


def pack(folder: Path) -> Parcel:
    """All files of a run, without locks and temporary files."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in files
        if not path.name.startswith(".")
    }


def unpack(parcel: Parcel, folder: Path) -> None:
    """Bring a folder to the state of the parcel; if this is interrupted, it can still be resumed.

    A checkpoint exists once its JSON does: those are written last, and only then are checkpoints
    removed that the parcel does not have.
    """
    for name in sorted(parcel, key=_is_record):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not (path.exists() and path.read_bytes() == parcel[name]):
            write_atomically(path, parcel[name])
    for path in (folder / "checkpoint").glob("*"):
        if f"checkpoint/{path.name}" not in parcel:
            path.unlink()
    remove_leftovers(folder)


def newest_record(folder: Path) -> str | None:
    """The name of the newest checkpoint's record; None before there is one."""
    return max((path.name for path in (folder / "checkpoint").glob("*.json")), default=None)


def _is_record(name: str) -> bool:
    return name.startswith("checkpoint/") and name.endswith(".json")
