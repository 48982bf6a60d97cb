"""A run folder as bytes, to go from one machine to another."""

from pathlib import Path

from ntm.common.files import remove_leftovers, write_atomically

Parcel = dict[str, bytes]
"""The files of a run folder by their relative path."""


def pack(folder: Path) -> Parcel:
    """All that a run has written, without locks and half-written files."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in files
        if not path.name.startswith(".")
    }


def unpack(parcel: Parcel, folder: Path) -> None:
    """Bring a folder to the state of the parcel, so that it can be resumed at any moment between.

    A checkpoint exists once its JSON does: those come last, and only then is removed what the
    parcel does not have.
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
