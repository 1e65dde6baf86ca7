"""The DREAM4 networks have the sizes their source states; drawn networks keep their bounds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optiframe_tvcs.datasets.gene_networks import RandomNetwork, read_gold, read_series
from optiframe_tvcs.networks.problem import NetworkIdentification

import optiframe
from optiframe import InvalidInput

SIZES = [
    *((f"grn.dream4-10.{k}", 10, 100, edges) for k, edges in enumerate((15, 16, 15, 13, 12), start=1)),
    ("grn.dream4-100.1", 100, 200, 176),
    ("grn.dream4-100.2", 100, 200, 249),
]


def problem(name: str, **parameters: Any) -> NetworkIdentification:
    return optiframe.problem(dataset={"name": name, **parameters})


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize(("name", "genes", "transitions", "edges"), SIZES)
def test_a_network_has_the_size_its_source_states(
    name: str, genes: int, transitions: int, edges: int
) -> None:
    found = problem(name)
    assert found.truth is not None
    assert found.expression.states.shape == (genes, transitions)
    assert found.genes.tolist() == [f"G{i}" for i in range(1, genes + 1)]
    assert int(found.truth.sum()) == edges
    assert found.over.total == 2 * genes
    assert found.expression.even


@pytest.mark.usefixtures("data_folder")
def test_the_first_numbers_are_those_of_the_file() -> None:
    found = problem("grn.dream4-10.1", total=5, in_degree=None)
    assert found.expression.states[:2, 0].tolist() == [0.6665114, 0.1272186]
    assert found.expression.changes[0, 0] == pytest.approx(0.3257748 - 0.6665114)
    # The twenty-first transition begins the second series: none joins the two.
    assert found.expression.states[0, 20] == 0.6927804
    assert found.truth is not None
    assert found.truth[1:4, 0].all()  # G1 acts on G2, G3 and G4
    assert found.over.total == 5
    assert found.in_caps.tolist() == [9] * 10


@pytest.mark.usefixtures("data_folder")
def test_what_the_model_leaves_out_matters_on_dream4() -> None:
    """With decay and basal levels fitted the ranking is far better than without."""
    aupr = {}
    for full in (False, True):
        options = dict.fromkeys(("own_effects", "intercept", "scale"), full)
        found = [
            optiframe.solve(
                optiframe.problem(dataset=f"grn.dream4-10.{k}", **options), "tvcs.htp", progress=False
            ).metrics["aupr"]
            for k in (1, 2)
        ]
        aupr[full] = np.mean(found)
    assert aupr[True] > aupr[False] + 0.2


def test_a_drawn_network_keeps_its_bounds_and_its_seed() -> None:
    for seed in range(3):
        data = RandomNetwork(seed=seed, edges=40, in_degree=2, out_degree=4)
        weights = data.effects()
        assert np.count_nonzero(weights) == 40
        assert (weights != 0).sum(axis=1).max() <= 2
        assert (weights != 0).sum(axis=0).max() <= 4
        assert not weights.diagonal().any()
        step = weights + 0.7 * np.eye(30)
        assert np.abs(np.linalg.eigvals(step)).max() <= 0.9 + 1e-6
    first, again, other = (problem("grn.random-network", genes=6, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert first.own_effects


def test_a_drawn_network_is_measured_with_the_noise_asked_for() -> None:
    clean, noisy = (
        np.stack(list(RandomNetwork(noise=noise).inputs()["expression"].values())[2:]) for noise in (0.0, 0.1)
    )
    error = (noisy - clean).std(axis=1) / clean.std(axis=1)
    assert 0.08 < error.min() < error.max() < 0.12


def test_series_begin_where_time_starts_again(tmp_path: Path) -> None:
    file = tmp_path / "series.tsv"
    file.write_text('"Time"\t"A"\t"B"\n\n0\t1\t2\n5\t3\t4\n\n0\t5\t6\n5\t7\t8\n')
    found = {name: column.tolist() for name, column in read_series(file).items()}
    assert found == {"series": [1, 1, 2, 2], "time": [0, 5, 0, 5], "A": [1, 3, 5, 7], "B": [2, 4, 6, 8]}


@pytest.mark.parametrize(
    ("read", "content", "message"),
    [
        (read_series, b"", "line 1: expected Time and the genes"),
        (read_series, b"Time\tA\n", "has no rows"),
        (read_series, b"Time\tA\n0\tx\n", "line 2: could not convert"),
        (read_series, b"Time\tA\n0\t1\t2\n", "line 2: 3 values where the header has 2"),
        (read_series, b"\xff\xfe\x00", r"levels\.tsv is not text in UTF-8"),
        (read_gold, b"", "no rows"),
        (read_gold, b"a\tb\t2\n", "line 1: expected regulator"),
        (read_gold, b"\xff\xfe\x00", r"levels\.tsv is not text in UTF-8"),
    ],
)
def test_a_damaged_file_is_refused_by_line(
    read: Callable[[Path], object], content: bytes, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "levels.tsv"
    file.write_bytes(content)
    with pytest.raises(InvalidInput, match=message):
        read(file)


def test_a_network_that_cannot_be_stable_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"radius: a network without edges has the spectral radius"):
        optiframe.dataset("grn.random-network", decay=0.0, radius=0.9)
