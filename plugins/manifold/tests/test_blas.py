"""Small linear algebra in one thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from optiframe_manifold.kernels import blas

_SCRIPT = """
import json
from optiframe_manifold.kernels.blas import one_thread
from threadpoolctl import threadpool_info

def threads():
    return sorted(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")

with one_thread():  # loads the libraries
    pass
found = [threads()]
try:
    with one_thread():
        found.append(threads())
        raise KeyError
except KeyError:
    found.append(threads())
print(json.dumps(found))
"""


@pytest.mark.slow
def test_threads_are_one_meanwhile_and_as_before_afterwards() -> None:
    # In a process of its own: libraries do not exceed the number of threads that they were loaded with.
    two = os.environ | {"OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    ran = subprocess.run([sys.executable, "-c", _SCRIPT], env=two, capture_output=True, text=True, check=True)
    before, within, after = json.loads(ran.stdout)
    assert before == after
    assert set(within) == {1}


def test_without_the_library_that_limits_threads_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    blas._controller.cache_clear()
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    with blas.one_thread():
        assert blas._controller() is None
    blas._controller.cache_clear()
