"""How long `import optiframe` and `optiframe list` take, whole process, warm disk.

Target: `optiframe list` under 0.4 s with every plugin installed. The bare interpreter is
timed beside it, interleaved, since absolute times belong to a machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
from time import perf_counter

TARGET = 0.4  # seconds, whole process
REPEATS = 3 if os.environ.get("OPTIFRAME_QUICK") else 15
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import optiframe": ["-c", "import optiframe"],
    "optiframe list": ["-c", "from optiframe.cli import main; main()", "list"],
}


def seconds(arguments: list[str]) -> float:
    began = perf_counter()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    return perf_counter() - began


def main() -> None:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(REPEATS + 1):
        for name, arguments in COMMANDS.items():
            times[name].append(seconds(arguments))
    bare = min(times["python -c pass"][1:])
    for name, measured in times.items():
        best, middle = min(measured[1:]), sorted(measured[1:])[REPEATS // 2]  # the first warms the disk
        print(f"{name:<20} best {best:.3f} s  median {middle:.3f} s  {best / bare:.1f} x bare interpreter")
    reached = min(times["optiframe list"][1:])
    verdict = "reached" if reached < TARGET else "MISSED"
    print(f"optiframe list: {reached:.3f} s, target at most {TARGET:g} s: {verdict}")
    sys.exit(reached >= TARGET)


if __name__ == "__main__":
    main()
