"""Sparse learning beside abess, skglm and the Lasso at equal sparsity: planted supports and real data.

Run: python examples/bench/tvcs_learning_peers.py [--part planted|few|l0learn|real|default]
     python examples/bench/tvcs_learning_peers.py --whole     # an hour or more

Without --whole: 4 repeats, sizes 5 and 10 of the real data, and no default size. With it: 20, and 5 to 40.

Needs scikit-learn and skglm; abess where it is installed (pip install abess), else its rows are left out.

Planted: 400 features, each correlated with the one before (0, .7 and .9), 20 or 30 coefficients of size
.5 to 1.5 with random signs, noise .1. Everybody is told the size. Shown: exact recoveries. Our solvers run
alone, from zero; `path` is `SparseRegressor`, which goes up over sizes and also starts from points of an l1
path, by splicing (its default) and by gradient matching pursuit.
abess goes up over sizes, too. Of a path of penalties of skglm (l0.5, each from the Lasso's) and the Lasso,
the largest coefficients are kept, as many as asked for; the support with the best fit to the samples counts.
Target: the better path recovers at least as often as the best of the others.

Few: 10 to 20 features (30 with --whole), each a sum of others, two fifths of them true, noise 1, and sizes 2
to 6. All supports are fitted one by one. Shown: how often the best of them is found, the largest loss over
the least, and seconds. Target: we find and prove all.

L0Learn: the R package is not run. Data as its own test of accuracy draws them (100 samples, 1,000 features,
10 coefficients of 1, no noise), where it asks for all coefficients within .001, and as its vignette does.
Target: what the test asks, on every draw.

Real: a9a and w5a of LIBSVM, logistic loss with an intercept, sizes 5 and 10, or 5 to 40. Everybody's
support gets the best fit without penalty; shown are its training loss and the share of errors on the test
part.
Target: our training loss is at most 1.001 times the best of the others, at every size. Seconds are
CPU time of the whole way to that support, one run each: for orientation only.

Default: `SparseClassifier()` on a9a and w5a, which chooses the size by cross-validation. Target: its loss on
the test part is at most 1.02 times the least along its own path. OPTIFRAME_QUICK=1 for a small case.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from hodgerank_common import missing, one_thread, quick, verdict
from optiframe_tvcs import SparseClassifier, SparseRegressor
from optiframe_tvcs.learning.restricted import minimise_on

import optiframe
from optiframe.problems.objectives.losses import LeastSquares, Logistic
from optiframe.problems.sets.vector_sets import Cardinality
from optiframe.solving.result import Status
from optiframe.tables.libsvm import read_libsvm

SOLVERS = ("iht", "htp", "gradmp", "stochastic-iht", "stochastic-gradmp", "splicing")
CASES = ((100, 20, 0.0), (100, 20, 0.7), (150, 30, 0.9))  # samples, nonzeros, correlation
FEATURES = 400
FEW = ((30, 10), (30, 15), (50, 20), (60, 30))  # samples, features
SIZES = (5, 10)
WHOLE = (5, 10, 20, 40)
REAL = (("a9a", "a9a.t"), ("w5a", "w5a.t.derived"))
_LEVELS = 100  # of a penalty, from one that leaves nothing down to a thousandth
_TIE = 1.001


def planted(samples: int, size: int, correlation: float, seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((samples, FEATURES))
    for j in range(1, FEATURES):
        matrix[:, j] = correlation * matrix[:, j - 1] + np.sqrt(1 - correlation**2) * matrix[:, j]
    truth = np.zeros(FEATURES)
    chosen = rng.choice(FEATURES, size, replace=False)
    truth[chosen] = rng.choice([-1, 1], size) * rng.uniform(0.5, 1.5, size)
    return matrix, matrix @ truth + 0.1 * rng.standard_normal(samples), truth


def by_solver(matrix: Any, target: Any, size: int, solver: str) -> Any:
    problem = optiframe.Minimize(LeastSquares(matrix=matrix, target=target), over=Cardinality(size=size))
    limit = 1000 if solver.endswith("iht") else 100
    found = optiframe.solve(
        problem, f"tvcs.{solver}", progress=False, trace=False, budget={"iterations": limit}
    )
    return found.solution


def by_penalty(matrix: Any, target: Any, size: int, penalty: str, *, logistic: bool) -> Any:
    """The best-fitting support of skglm's path of penalties, cut to the `size` largest coefficients."""
    from skglm import GeneralizedLinearEstimator, datafits, penalties
    from skglm.solvers import AndersonCD

    target = np.asarray(target, dtype=np.float64)
    function = (Logistic if logistic else LeastSquares)(matrix=matrix, target=target, l2=1e-8)
    largest = float(np.abs(function.gradient(np.zeros(matrix.shape[1]))).max())
    kinds = [penalties.L1(largest)] + ([penalties.L0_5(largest)] if penalty == "l0.5" else [])
    models = [
        GeneralizedLinearEstimator(
            datafits.Logistic() if logistic else datafits.Quadratic(),
            kind,
            AndersonCD(fit_intercept=logistic, warm_start=True, tol=1e-5),
        )
        for kind in kinds
    ]
    best, least, met = np.zeros(matrix.shape[1]), np.inf, set()
    for level in np.geomspace(2.0, 1e-3, _LEVELS) * largest:
        for kind, model in zip(kinds, models, strict=True):
            kind.alpha = level
            if model is not models[0]:  # at zero l0.5 has no descent; it begins at the Lasso
                model.coef_, model.intercept_ = models[0].coef_.copy(), models[0].intercept_
            coefficients = np.ravel(model.fit(matrix, target).coef_)
        order = np.argsort(-np.abs(coefficients), kind="stable")[:size]
        kept = np.zeros(len(coefficients), dtype=bool)
        kept[order] = coefficients[order] != 0
        if (key := kept.tobytes()) not in met:
            met.add(key)
            fit = minimise_on(function, kept, coefficients)
            if (value := function.value(fit)) < least:
                best, least = np.where(kept, 1.0, 0.0), value
        if np.count_nonzero(coefficients) > 4 * size:
            break
    return best


def by_abess(matrix: Any, target: Any, size: int, *, logistic: bool) -> Any:
    """The support of `size` at the end of abess's path over sizes; it refuses constant columns."""
    import abess

    changes = np.ptp(matrix, axis=0) > 0
    kind = abess.LogisticRegression if logistic else abess.LinearRegression
    # Without a weight on the size the criterion is the fit, and the largest size is chosen.
    model = kind(support_size=range(size + 1), ic_type="aic", ic_coef=0.0, fit_intercept=logistic)
    found = np.zeros(matrix.shape[1])
    found[changes] = np.ravel(model.fit(matrix[:, changes], target).coef_)
    return found


def ways_of_least_squares(matrix: Any, target: Any, size: int) -> dict[str, Callable[[], Any]]:
    """Everybody's way to the coefficients of `size` features."""

    def path(solver: str) -> Any:
        model = SparseRegressor(size, solver=solver, fit_intercept=False, standardize=False)
        return model.fit(matrix, target).coef_

    ways: dict[str, Callable[[], Any]] = {
        name: partial(by_solver, matrix, target, size, name) for name in SOLVERS
    }
    for name in ("splicing", "gradmp"):
        ways[f"path {name}"] = partial(path, f"tvcs.{name}")
    for name in ("l0.5", "l1"):
        ways[f"skglm {name}"] = partial(by_penalty, matrix, target, size, name, logistic=False)
    if not missing("abess"):
        ways["abess"] = partial(by_abess, matrix, target, size, logistic=False)
    return ways


def recoveries(repeats: int) -> bool:
    good = True
    for samples, size, correlation in CASES:
        count: dict[str, int] = {}
        spent: dict[str, float] = {}
        for seed in range(repeats):
            matrix, target, truth = planted(samples, size, correlation, seed)
            for name, way in ways_of_least_squares(matrix, target, size).items():
                began = process_time()
                point = way()
                spent[name] = spent.get(name, 0.0) + process_time() - began
                right = np.array_equal(point != 0, truth != 0)
                count[name] = count.get(name, 0) + int(right)
        print(f"-- n = {samples}, {size} of {FEATURES}, correlation {correlation}: recoveries of {repeats}")
        print(", ".join(f"{name} {found}" for name, found in count.items()))
        print("seconds each: " + ", ".join(f"{name} {total / repeats:.3f}" for name, total in spent.items()))
        ours = count["path splicing"]  # what SparseRegressor does unless told otherwise
        theirs = max(found for name, found in count.items() if name.startswith(("skglm", "abess")))
        good &= verdict(
            "recoveries, our default over the best other", ours / max(theirs, 1), 1.0, unit=" x", most=False
        )
    return good


def least_loss(matrix: Any, target: Any, size: int) -> float:
    """That of the best support of this size, by fitting all, with an intercept."""
    matrix, target = matrix - matrix.mean(axis=0), target - target.mean()
    table, against, most = matrix.T @ matrix, matrix.T @ target, 0.0
    supports = itertools.combinations(range(matrix.shape[1]), size)
    while block := list(itertools.islice(supports, 20_000)):
        at = np.array(block)
        right = against[at]
        found = np.linalg.solve(table[at[:, :, np.newaxis], at[:, np.newaxis, :]], right[:, :, np.newaxis])
        most = max(most, float((found[:, :, 0] * right).sum(axis=1).max()))
    return float(target @ target - most) / (2 * len(target))


def few_features(repeats: int, *, whole: bool) -> bool:
    good = True
    for samples, features in FEW if whole else FEW[:3]:
        found: dict[str, list[float]] = {}
        spent: dict[str, float] = {}
        proved, draws = 0, 0
        for size, seed in itertools.product(range(2, 7), range(repeats)):
            rng = np.random.default_rng(seed)
            mixing = np.eye(features) + 0.7 * rng.standard_normal((features, features))
            matrix = rng.standard_normal((samples, features)) @ mixing
            truth = rng.standard_normal(features) * (rng.random(features) < 0.4)
            target = matrix @ truth + rng.standard_normal(samples)
            least, model, draws = least_loss(matrix, target, size), SparseRegressor(size), draws + 1
            ways: dict[str, Callable[[], Any]] = {
                "ours": lambda model=model, x=matrix, y=target: model.fit(x, y).coef_,
                "without the proof": partial(by_exchanges, matrix, target, size),
            }
            if not missing("abess"):
                centred = matrix - matrix.mean(axis=0), target - target.mean()
                ways["abess"] = partial(by_abess, *centred, size, logistic=False)
            for name, way in ways.items():
                began = process_time()
                point = way()
                spent[name] = spent.get(name, 0.0) + process_time() - began
                residual = target - matrix @ point
                found.setdefault(name, []).append(float(np.var(residual)) / 2 / least)
            proved += model.result_.status is Status.CONVERGED
        print(f"-- n = {samples}, 2 to 6 of {features} features, {draws} draws; proved: {proved}")
        for name, over in found.items():
            best = sum(each <= 1 + 1e-9 for each in over)
            seconds = spent[name] / draws
            print(f"{name}: best {best}, at most {max(over):.3f} times the least loss, {seconds:.4f} s")
        share = min(proved, sum(each <= 1 + 1e-9 for each in found["ours"])) / draws
        good &= verdict("share of best supports that we find and prove", share, 1.0, most=False)
    return good


def by_exchanges(matrix: Any, target: Any, size: int) -> Any:
    return SparseRegressor(size, solver={"name": "tvcs.splicing", "proof": 0}).fit(matrix, target).coef_


def ways_of(matrix: Any, target: Any, size: int) -> dict[str, Callable[[], Any]]:
    """Everybody's way to a support of `size` features for logistic regression."""
    thin = sp.csc_matrix(matrix)  # the only kind that skglm takes
    ways: dict[str, Callable[[], Any]] = {
        "path": lambda: SparseClassifier(size, l2=1e-6).fit(matrix, target).coef_[0],
        "skglm l0.5": lambda: by_penalty(thin, target, size, "l0.5", logistic=True),
        "skglm l1": lambda: by_penalty(thin, target, size, "l1", logistic=True),
    }
    if not missing("abess"):
        ways["abess"] = lambda: by_abess(matrix.toarray(), (target > 0).astype(int), size, logistic=True)
    return ways


def libsvm_pair(folder: Path, name: str, test: str, rows: int | None) -> tuple[Any, Any, Any, Any]:
    """Samples and labels, and those of the test part, over the features that both have."""
    matrix, target = read_libsvm(folder / f"{name}.gz")
    others, truth = read_libsvm(folder / f"{test}.gz")
    columns = min(matrix.shape[1], others.shape[1])
    return sp.csr_array(matrix[:rows, :columns]), target[:rows], sp.csr_array(others[:, :columns]), truth


def by_default(folder: Path, rows: int | None) -> bool:
    """The size that nobody gave, and what it costs on the test part."""
    good = True
    for name, test in REAL:
        matrix, target, others, truth = libsvm_pair(folder, name, test, rows)
        began = process_time()
        model = SparseClassifier().fit(matrix, target)
        seconds = process_time() - began
        held_out = Logistic(matrix=others, target=truth)
        path = zip(model.coef_path_, model.intercept_path_, strict=True)
        losses = [float(held_out.losses(others @ weights + constant).mean()) for weights, constant in path]
        at = model.sizes_.tolist().index(model.size_)
        print(
            f"-- {name}, {matrix.shape[0]} x {matrix.shape[1]}: size {model.size_} of those up to "
            f"{model.sizes_[-1]}, {len(model.sizes_)} of them, {seconds:.0f} s"
        )
        good &= verdict(
            "test loss at the size chosen over the least on the path",
            losses[at] / min(losses),
            1.02,
            unit=" x",
        )
    return good


def real(folder: Path, sizes: tuple[int, ...], rows: int | None) -> bool:
    good = True
    for name, test in REAL:
        matrix, target, others, truth = libsvm_pair(folder, name, test, rows)
        columns = matrix.shape[1]
        ones = sp.csr_array(np.ones((matrix.shape[0], 1)))
        fit = Logistic(matrix=sp.hstack([matrix, ones], format="csr"), target=target, l2=1e-8)
        for size in sizes:
            ways = ways_of(matrix, target, size)
            losses = {}
            print(f"-- {name}, {size} of {columns} features")
            for who, way in ways.items():
                began = process_time()
                kept = way() != 0
                seconds = process_time() - began
                best = minimise_on(fit, np.append(kept, True), np.zeros(columns + 1))
                losses[who] = fit.value(best)
                wrong = np.mean(np.where(others @ best[:-1] + best[-1] > 0, 1, -1) != truth)
                print(
                    f"{who}: {np.count_nonzero(kept)} features, loss {losses[who]:.5f}, "
                    f"test errors {wrong:.2%}, {seconds:.2f} s"
                )
            theirs = min(loss for who, loss in losses.items() if who != "path")
            good &= verdict(
                "training loss, ours over the best other", losses["path"] / theirs, _TIE, unit=" x"
            )
    return good


def as_l0learn(repeats: int) -> bool:
    """Data drawn as L0Learn's own test of accuracy and its vignette draw them; the size is given."""
    truth = np.zeros(1000)
    truth[:10] = 1.0
    found = {"its test, 100 samples without noise": 0, "its vignette, 500 samples, noise 1": 0}
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        exact, noisy = rng.standard_normal((100, 1000)), rng.standard_normal((500, 1000))
        exact[np.abs(exact) < 0.5] = 0
        noise = rng.standard_normal(500)
        for name, matrix, target in zip(
            found, (exact, noisy), (exact @ truth, noisy @ truth + noise), strict=True
        ):
            weights = SparseRegressor(10).fit(matrix, target).coef_
            right = (weights != 0) == (truth != 0)
            found[name] += bool(right.all()) and (matrix is noisy or np.abs(weights - truth).max() < 1e-3)
    print(f"-- L0Learn's examples, 10 of 1,000 features: recoveries of {repeats}")
    print(", ".join(f"{name}: {count}" for name, count in found.items()))
    share = found["its test, 100 samples without noise"] / repeats
    return verdict("share recovered of what L0Learn's test asks of it, each time", share, 1.0, most=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--whole", action="store_true", help="all that the pages quote: an hour")
    parser.add_argument("--repeats", type=int, help="draws; 4, or 20 with --whole")
    parser.add_argument("--part", choices=("planted", "few", "l0learn", "real", "default"))
    parser.add_argument("--sizes", type=int, nargs="+", help="of the real data; 5 10, or 5 10 20 40")
    chosen = parser.parse_args()
    repeats = chosen.repeats or (2 if quick() else 20 if chosen.whole else 4)
    sizes = chosen.sizes or ([5] if quick() else WHOLE if chosen.whole else SIZES)
    if not chosen.whole:
        print("A part that takes minutes; --whole runs all.")
    one_thread()
    warnings.simplefilter("ignore")  # peers and pursuits that end at their limits
    good = True
    if chosen.part in (None, "planted"):
        good &= recoveries(repeats)
    if chosen.part in (None, "few"):
        good &= few_features(repeats, whole=chosen.whole)
    if chosen.part in (None, "l0learn"):
        good &= as_l0learn(repeats)
    folder, rows = Path(os.environ.get("OPTIFRAME_DATA", "")) / "libsvm", 2000 if quick() else None
    wanted = {chosen.part} if chosen.part else {"real", "default"} if chosen.whole else {"real"}
    if wanted & {"real", "default"} and not folder.is_dir():
        print("real data: set OPTIFRAME_DATA to the folder that holds libsvm/")
        return 0 if good else 1
    if "real" in wanted:
        good &= real(folder, tuple(sizes), rows)
    if "default" in wanted:
        good &= by_default(folder, rows)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
