"""Builds the kernels with AddressSanitizer and UndefinedBehaviorSanitizer and runs their tests on them.

Run: make sanitize                               # every plugin with kernels
     .venv/bin/python tests/sanitize.py tvcs     # one
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TO = ROOT / "build" / "sanitize"


def main(names: list[str]) -> int:
    names = names or sorted(path.parent.name for path in ROOT.glob("plugins/*/CMakeLists.txt"))
    packages = TO / "packages"
    shutil.rmtree(TO, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(packages)]
    settings = ["-C", "cmake.define.OPTIFRAME_SANITIZE=ON", "-C", "build-dir=build/sanitize/{wheel_tag}"]
    subprocess.run([*pip, *settings, *(str(ROOT / "plugins" / name) for name in names)], check=True)
    for name in names:
        if not list(packages.glob(f"optiframe_{name}/kernels/_native.*.so")):
            print(f"the kernels of {name} were not built: see `pip install --verbose plugins/{name}`")
            return 1
    # An interpreter that has this one's packages, but none of the project's own editable installations.
    venv.create(TO / "venv", symlinks=True)
    python = TO / "venv" / "bin" / "python"
    site = subprocess.check_output([python, "-c", "import site; print(site.getsitepackages()[0])"], text=True)
    Path(site.strip(), "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    # The library of C++ beside the sanitizer's, which looks there for what it replaces.
    libraries = [
        subprocess.check_output(["g++", f"-print-file-name={name}"], text=True).strip()
        for name in ("libasan.so", "libstdc++.so.6")
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(packages), str(ROOT)]),
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter keeps what it once made
        "CI": "true",  # an extension that does not load is a failure
    }
    tests = [str(path) for name in names for path in ROOT.glob(f"plugins/{name}/tests/test_*kernels.py")]
    # Not captured: a sanitizer ends the process, and what it found would be lost.
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", "--capture=no", *tests]
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    print(
        f"kernels of {', '.join(names)} under sanitizers: {'faults, see above' if code else 'no fault found'}"
    )
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
