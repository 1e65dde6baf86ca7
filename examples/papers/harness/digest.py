"""Which files an item's page was made from."""

from __future__ import annotations

import hashlib
from pathlib import Path


def digest(file: Path) -> str:
    """Of a comparison file, its module, and the modules that the paper's items share.

    The site says by it which pages are older than their files (docs/hooks/papers.py).
    """
    shared = [path for path in sorted(file.parent.glob("*.py")) if not path.with_suffix(".toml").is_file()]
    content = hashlib.sha256()
    for path in (file, file.with_suffix(".py"), *shared):
        content.update(path.read_bytes() if path.is_file() else b"")
    return content.hexdigest()[:16]
