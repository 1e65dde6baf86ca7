"""Progress in a notebook: a bar below the cell that takes itself away, seen in a real kernel."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = [pytest.mark.slow, pytest.mark.ci]  # a kernel is a process of its own

COMPARE = """
import optiframe

from optiframe.notebook import Bar

drawn = []
update = Bar.update
Bar.update = lambda bar, words, completed: (drawn.append(words), update(bar, words, completed))
bowl = {"name": "minimize", "objective": {"name": "squared-distance", "to": [1.0, 2.0]}}
optiframe.compare([bowl], ["scipy.lbfgs", "scipy.nelder-mead"], folder="compared")
drawn[0], drawn[-1]
"""


def test_a_comparison_in_a_notebook_draws_a_bar_and_leaves_no_lines(tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(COMPARE)])
    client = NotebookClient(notebook, timeout=120, kernel_name="python3")
    client.resources = {"metadata": {"path": str(tmp_path)}}
    client.execute()
    outputs = notebook.cells[0].outputs
    assert [output.text for output in outputs if output.output_type == "stream"] == []
    (bar,) = (output for output in outputs if output.output_type == "display_data")
    assert bar.data["text/html"] == ""  # it took itself away
    (shown,) = (output.data["text/plain"] for output in outputs if output.output_type == "execute_result")
    assert shown == "('0 of 2 runs', '2 of 2 runs')"
