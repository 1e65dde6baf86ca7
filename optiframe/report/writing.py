"""Writing a file whole or not at all."""

from __future__ import annotations

from pathlib import Path

from optiframe.errors import InvalidInput


def write_bytes(path: Path, content: bytes) -> Path:
    """Write under another name and rename, so that an interrupted run leaves no half of a file.

    Raises
    ------
    InvalidInput
        When the file cannot be written, with the reason.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}; choose another place") from None
    finally:
        if part.is_file():
            part.unlink()
    return path
