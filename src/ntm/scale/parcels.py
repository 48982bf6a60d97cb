"""Run folders as bytes, to send from one machine to another."""

from pathlib import Path

from ntm.common.files import remove_leftovers, write_atomically

Parcel = dict[str, bytes]
"""Content of the files of a run folder, by relative path."""


def pack(folder: Path) -> Parcel:
    """Read all files of a run, except locks and temporary files."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in files
        if not path.name.startswith(".")
    }


def unpack(parcel: Parcel, folder: Path) -> None:
    """Write a parcel to a folder, which can be resumed even if this is interrupted.

    The JSON file completes a checkpoint, so JSON files are written last. After them, checkpoints
    that are not in the parcel are removed.
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
    """Return the name of the newest checkpoint's JSON file; None if there is no checkpoint."""
    return max((path.name for path in (folder / "checkpoint").glob("*.json")), default=None)


def _is_record(name: str) -> bool:
    return name.startswith("checkpoint/") and name.endswith(".json")
