"""Who runs which cell: a locked file for each cell that runs, so that several processes share one store.

The system gives a lock back when its process ends, however it ends. A lock belongs to the open file
(`flock`) and not to the process: two comparisons in one process exclude each other, and so do
containers that share a folder, whose process numbers and host names may be the same.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from optiframe.comparison.store.failures import StoreFailed
from optiframe.comparison.store.schema import identity


class Claims:
    """The cells that one comparison runs, by their keys."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, int] = {}

    def take(self, key: str) -> bool:
        """Claim a cell; False when it runs already, here or elsewhere.

        Raises
        ------
        StoreFailed
            When its file cannot be made or locked.
        """
        import fcntl  # not on Windows, where stores are only read

        path = self._file(key)
        try:
            while True:
                file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError as error:
                    os.close(file)
                    if isinstance(error, BlockingIOError):
                        return False
                    raise
                status = os.fstat(file)
                if identity(path) == (status.st_dev, status.st_ino):
                    self._held[key] = file
                    return True
                os.close(file)  # whoever had it has removed it since: the next one has another file
        except OSError as error:
            raise StoreFailed(
                f"cannot lock {path}: {error.strerror}; choose another folder with --output. "
                "What was stored is kept."
            ) from None

    def give_back(self, key: str) -> None:
        """End a claim, if there is one. A file that cannot be removed stays, without its lock."""
        if (file := self._held.pop(key, None)) is not None:
            with suppress(OSError):  # what the claim was for is stored by now, and must not count as failed
                try:
                    status, path = os.fstat(file), self._file(key)
                    if identity(path) == (status.st_dev, status.st_ino):  # the folder may have been moved
                        path.unlink()
                finally:
                    os.close(file)

    def give_back_all(self) -> None:
        """End every claim."""
        for key in tuple(self._held):
            self.give_back(key)

    def _file(self, key: str) -> Path:
        return self._folder / f".running-{key[:16]}"
