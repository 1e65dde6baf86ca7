"""The ready-made objectives: calculus, CVXPY's view, parts of a sum, inputs."""

import gzip
import math
import pickle
import time
from concurrent.futures import ThreadPoolExecutor

import autograd.numpy as anp
import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import optiframe
from optiframe import InvalidInput, Minimize, Objective, Unsuited, from_function
from optiframe.problems.objectives.columns import Columns
from optiframe.problems.objectives.losses import LeastSquares, Logistic, SquaredHinge
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.records.fields import paths_relative_to
from optiframe.testing import check_derivatives

MODELS = [LeastSquares, Logistic, SquaredHinge]
models = pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
kinds = pytest.mark.parametrize("kind", ["dense", "sparse"])


def rng(seed=0):
    return np.random.default_rng(seed)


def example(model, kind="dense", rows=12, columns=4, *, l2=0.3, seed=0):
    matrix = rng(seed).standard_normal((rows, columns))
    matrix[rng(seed + 1).random((rows, columns)) < 0.4] = 0
    target = rng(seed + 2).choice([-1.0, 1.0], rows)
    return model(matrix=sp.csr_array(matrix) if kind == "sparse" else matrix, target=target, l2=l2)


def rosenbrock(x):
    """Written with autograd.numpy; at module level, so that it can be pickled."""
    return anp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


# The calculus


@models
@kinds
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_derivatives_fit_the_values(model, kind, l2):
    check_derivatives(example(model, kind, l2=l2), trials=10)


@pytest.mark.parametrize("shape", [(4,), (2, 3), (2, 1, 2), ()], ids=str)
def test_squared_distance_has_derivatives_over_any_shape(shape):
    check_derivatives(SquaredDistance(to=rng().standard_normal(shape)))


@pytest.mark.parametrize("shape", [5, (5,), (3, 2)], ids=str)
def test_a_function_gets_its_derivatives_from_autograd(shape):
    objective = from_function(lambda x: anp.sum(anp.exp(x) * x) + anp.sum(x) ** 2, shape)
    assert objective.offers(Objective.gradient)
    assert objective.offers(Objective.hessian_product)
    assert not objective.offers(Objective.hessian)
    check_derivatives(objective)


@models
def test_value_is_the_mean_loss_by_its_definition(model):
    objective = example(model)
    x = rng(9).standard_normal(4)
    loss = {
        "least-squares": lambda z, y: (z - y) ** 2 / 2,
        "logistic": lambda z, y: math.log(1 + math.exp(-y * z)),
        "squared-hinge": lambda z, y: max(0.0, 1 - y * z) ** 2,
    }[model.name]
    rows = [loss(float(a @ x), y) for a, y in zip(objective.matrix, objective.target, strict=True)]
    assert objective.value(x) == pytest.approx(sum(rows) / len(rows) + 0.15 * float(x @ x))


@models
def test_dense_and_sparse_agree(model):
    dense, sparse = example(model, "dense"), example(model, "sparse")
    x, v = rng(3).standard_normal((2, 4))
    assert sparse.value(x) == pytest.approx(dense.value(x), rel=1e-14)
    assert np.allclose(sparse.gradient(x), dense.gradient(x), rtol=0, atol=1e-14)
    assert np.allclose(sparse.hessian_product(x, v), dense.hessian_product(x, v), rtol=0, atol=1e-14)
    assert isinstance(sparse.hessian(x), np.ndarray)
    assert np.allclose(sparse.hessian(x), dense.hessian(x), rtol=0, atol=1e-14)
    assert sparse.curvature() == pytest.approx(dense.curvature(), rel=1e-12)


@kinds
def test_the_hessian_is_summed_over_all_blocks_of_rows(kind):
    objective = example(Logistic, kind, rows=2500, columns=3)  # blocks have 1024 rows
    check_derivatives(objective, trials=2)


def test_extreme_predictions_neither_overflow_nor_lose_the_loss():
    objective = Logistic(matrix=np.array([[1.0], [1.0]]), target=[1.0, -1.0])
    assert objective.value(np.array([1000.0])) == 500.0
    assert objective.value(np.array([-1000.0])) == 500.0
    assert objective.gradient(np.array([1000.0])).tolist() == [0.5]
    assert objective.hessian(np.array([1000.0])).tolist() == [[0.0]]
    one_sided = Logistic(matrix=np.array([[1.0]]), target=[1.0])
    assert one_sided.value(np.array([50.0])) == pytest.approx(math.exp(-50), rel=1e-12)


# The curvature bound


@pytest.mark.slow
@models
@kinds
@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 1000), rows=st.integers(1, 8), columns=st.integers(1, 8))
def test_curvature_bounds_every_hessian_from_above(model, kind, seed, rows, columns):
    objective = example(model, kind, rows, columns, seed=seed)
    for scale in (0.0, 0.1, 10.0):
        hessian = objective.hessian(scale * rng(seed).standard_normal(columns))
        assert np.linalg.eigvalsh(hessian)[-1] <= objective.curvature() * (1 + 1e-14)


@models
def test_curvature_is_reached_where_the_loss_bends_most(model):
    objective = example(model)
    assert np.linalg.eigvalsh(objective.hessian(np.zeros(4)))[-1] == pytest.approx(objective.curvature())


@pytest.mark.slow
@kinds
@pytest.mark.parametrize("shape", [(700, 600), (600, 700)], ids=str)
def test_the_iterative_eigenvalue_bounds_the_dense_one_closely(kind, shape):
    matrix = rng(5).standard_normal(shape)
    if kind == "sparse":
        matrix = sp.csr_array(matrix * (rng(6).random(shape) < 0.05))
    objective = LeastSquares(matrix=matrix, target=np.zeros(shape[0]))
    exact = np.linalg.norm(matrix.toarray() if kind == "sparse" else matrix, 2) ** 2 / shape[0]
    assert exact <= objective.curvature() <= exact * (1 + 1e-5)


def test_the_iterative_eigenvalue_does_not_miss_a_direction_that_sums_to_zero():
    direction = np.zeros(600)
    direction[:2] = 1.0, -1.0  # orthogonal to a start of equal entries
    weak = np.full(600, 1e-2)
    matrix = np.vstack([np.outer(np.ones(350), direction), np.outer(np.ones(350), weak)])
    objective = LeastSquares(matrix=matrix, target=np.zeros(700))
    assert 1.0 <= objective.curvature() <= 1.0 + 1e-5


def test_a_matrix_of_zeros_bends_only_by_its_regularizer():
    big, small = sp.csr_array((600, 600)), np.zeros((2, 3))
    assert LeastSquares(matrix=big, target=np.zeros(600), l2=0.5).curvature() == 0.5
    assert LeastSquares(matrix=small, target=np.zeros(2)).curvature() == 0.0


# CVXPY


@pytest.mark.parametrize(
    "objective",
    [SquaredDistance(to=[1.0, -2.0, 0.5, 0.0])]
    + [example(model, kind, l2=l2) for model in MODELS for kind in ("dense", "sparse") for l2 in (0.0, 0.3)],
    ids=lambda objective: objective.name,
)
def test_cvxpy_gives_the_same_value(objective):
    for seed in range(3):
        point = rng(seed).standard_normal(4)
        x = cp.Variable(4)
        expression = objective.as_cvxpy(x)
        x.value = point
        assert expression.is_convex()
        assert float(expression.value) == pytest.approx(objective.value(point))


@models
@kinds
def test_cvxpy_finds_a_point_without_slope(model, kind):
    objective = example(model, kind)
    program = Minimize(objective).as_cvxpy()
    program.program.solve(solver="CLARABEL")
    assert np.abs(objective.gradient(program.read())).max() <= 1e-4


# Finite sums


@models
@kinds
def test_the_mean_over_equal_parts_is_the_whole(model, kind):
    whole = example(model, kind, rows=12)
    parts = [whole.take(range(start, start + 4)) for start in (0, 4, 8)]
    assert [len(part) for part in parts] == [4, 4, 4]
    assert len(whole) == 12
    x, v = rng(2).standard_normal((2, 4))
    assert np.mean([part.value(x) for part in parts]) == pytest.approx(whole.value(x))
    assert np.allclose(np.mean([part.gradient(x) for part in parts], axis=0), whole.gradient(x))
    products = [part.hessian_product(x, v) for part in parts]
    assert np.allclose(np.mean(products, axis=0), whole.hessian_product(x, v))


@models
@kinds
def test_taking_all_terms_gives_an_equal_objective(model, kind):
    whole = example(model, kind)
    for everything in (slice(None), np.arange(12), np.ones(12, dtype=bool), list(range(12))):
        taken = whole.take(everything)
        assert type(taken) is model
        assert taken == whole


@pytest.mark.parametrize("stored", [np.ascontiguousarray, np.asfortranarray, sp.csr_array])
def test_any_way_of_naming_rows_takes_those_rows(stored):
    rows = rng(3).standard_normal((12, 4))
    whole = LeastSquares(matrix=stored(rows), target=np.arange(12.0))
    for chosen in ([7, 0, -1], np.array([2, 2], dtype=np.int32), np.arange(12) % 3 == 0, slice(1, 9, 3)):
        taken = whole.take(chosen)
        dense = taken.matrix.toarray() if stored is sp.csr_array else taken.matrix
        assert np.array_equal(dense, rows[chosen])
        assert np.array_equal(taken.target, np.arange(12.0)[chosen])


def test_terms_may_be_taken_twice_and_the_regularizer_stays():
    whole = example(LeastSquares, l2=0.3)
    twice, once = whole.take([2, 2, 2]), whole.take([2])
    x = np.ones(4)
    assert len(twice) == 3
    assert twice.value(x) == pytest.approx(once.value(x))
    assert once.l2 == 0.3


@pytest.mark.parametrize(
    ("indices", "words"),
    [
        ([], "at least one row"),
        (3, "at least one row"),
        ([[1, 2]], "at least one row"),
        (slice(9, 9), "chooses none"),
        ([12], "not rows of 12 terms"),
        ([0.5], "not rows of 12 terms"),
        ([True, False], "not rows of 12 terms"),
    ],
    ids=str,
)
@kinds
def test_rows_that_are_not_there_cannot_be_taken(kind, indices, words):
    with pytest.raises(InvalidInput, match=words):
        example(LeastSquares, kind).take(indices)


# Inputs


@pytest.mark.parametrize("model", [Logistic, SquaredHinge], ids=lambda m: m.name)
def test_labels_zero_and_one_are_read_as_minus_one_and_one(model):
    matrix = rng().standard_normal((3, 2))
    counted = model(matrix=matrix, target=[0, 1, 0])
    assert counted.target.tolist() == [-1.0, 1.0, -1.0]
    assert counted == model(matrix=matrix, target=[-1, 1, -1])
    assert model(matrix=matrix, target=[0, 0, 0]).target.tolist() == [-1.0] * 3
    assert model(matrix=matrix, target=[1, 1, 1]).target.tolist() == [1.0] * 3


def test_the_given_arrays_are_neither_changed_nor_writable_through_the_objective():
    target = np.array([0.0, 1.0])
    unsorted = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 0, 0]), np.array([0, 2, 3])))
    repeated = sp.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2, 2])), shape=(2, 2))
    for matrix in (np.eye(2), unsorted, repeated):
        before = matrix.copy()
        objective = Logistic(matrix=matrix, target=target)
        if sp.issparse(matrix):
            assert np.array_equal(matrix.indices, before.indices)
            assert np.array_equal(matrix.data, before.data)
            assert np.array_equal(matrix.indptr, before.indptr)
            matrix, before = matrix.toarray(), before.toarray()  # noqa: PLW2901  # compared, not kept
        assert np.array_equal(matrix, before)
        assert target.tolist() == [0.0, 1.0]
        with pytest.raises(ValueError, match="read-only"):
            objective.target[0] = 5.0


@pytest.mark.parametrize(
    ("model", "inputs", "words"),
    [
        (Logistic, {"matrix": np.eye(3), "target": [1, 2, -1]}, "target: row 2: label 2;"),
        (SquaredHinge, {"matrix": np.eye(3), "target": [1, 0, -1]}, "row 2 has label 0 and row 3 label -1"),
        (LeastSquares, {"matrix": np.eye(3), "target": [1, 2]}, "matrix has 3 rows, target 2 values"),
        (LeastSquares, {"matrix": np.zeros((0, 2)), "target": []}, "matrix is 0 x 2"),
        (LeastSquares, {"matrix": np.zeros((2, 0)), "target": [1, 2]}, "matrix is 2 x 0"),
        (LeastSquares, {"matrix": [[1.0], [1.0, 2.0]], "target": [1, 2]}, "matrix: rows differ in length"),
        (LeastSquares, {"matrix": [[math.nan]], "target": [1]}, r"matrix: entry \[0, 0\] is nan"),
        (LeastSquares, {"matrix": sp.csr_array([[math.inf]]), "target": [1]}, "matrix: every stored entry"),
        (LeastSquares, {"matrix": sp.csr_array([[1j]]), "target": [1]}, "matrix: must hold real numbers"),
        (LeastSquares, {"matrix": [1.0, 2.0], "target": [1, 2]}, "matrix: must be a matrix"),
        (LeastSquares, {"matrix": np.eye(2), "target": np.eye(2)}, "target: must be a vector"),
        (LeastSquares, {"matrix": np.eye(1), "target": [1], "l2": -0.1}, "l2: must be at least 0"),
        (LeastSquares, {"matrix": np.eye(1), "target": [1], "L2": 1.0}, "L2: unknown key"),
        (LeastSquares, {"target": [1]}, "matrix: is missing"),
        (LeastSquares, {"data": 3}, "data: must be the path of a LIBSVM file, got 3"),
        (LeastSquares, {"data": "nowhere.svm"}, "data: no file nowhere.svm"),
        (LeastSquares, {"data": "a.svm", "target": [1]}, "data: brings matrix and target"),
    ],
)
def test_wrong_inputs_are_named(model, inputs, words):
    with pytest.raises(InvalidInput, match=words):
        model(**inputs)


# Files

TEXT = b"+1 1:0.5 3:2 # a comment\n-1 2:1\n+1\n"
ROWS = [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize("name", ["data.libsvm", "data.svm", "data.txt", "data.libsvm.gz", "data.gz"])
def test_a_libsvm_file_gives_matrix_and_target(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(TEXT) if name.endswith(".gz") else TEXT)
    with paths_relative_to(tmp_path):
        objective = optiframe.objective("logistic", data=name, l2=0.1)
    assert objective.matrix.toarray().tolist() == ROWS
    assert objective == Logistic(matrix=sp.csr_array(ROWS), target=[1, -1, 1], l2=0.1)
    assert objective.data is None
    assert Logistic(data=tmp_path / name, l2=0.1) == objective


def test_matrix_and_target_may_be_csv_and_npy_files(tmp_path):
    (tmp_path / "features.csv").write_text("1,2\n3,4\n")
    np.save(tmp_path / "labels.npy", np.array([0, 1]))
    with paths_relative_to(tmp_path):
        objective = optiframe.objective("squared-hinge", matrix="features.csv", target="labels.npy")
    assert objective == SquaredHinge(matrix=[[1, 2], [3, 4]], target=[-1, 1])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "has no rows"),
        (b"1,0,3\n", "line 1: not LIBSVM text"),
        (b"1 1:2\nlabel 2:1\n", "line 2: not LIBSVM text, .*'label 2:1'"),
        (b"1 1:2\n1 1:x\n", "line 2: not LIBSVM text"),
        (b"1 1:2\n\n1 2:1 1:3\n", "line 3: the indices must rise"),
        (b"1 1:2 1:3\n", "line 1: the indices must rise"),
        (b"1 -4:2\n", "line 1: an index is negative or too large"),
        (b"1 99999999999:2\n", "line 1: an index is negative or too large"),
        (b"\xff\xfe\x00", "line 1: not LIBSVM text"),
        (b"1 1:nan\n", "matrix: every stored entry must be finite"),
        (b"3 1:1\n", "target: row 1: label 3"),
    ],
    ids=repr,
)
def test_a_file_that_is_not_libsvm_text_is_refused_by_line(tmp_path, content, words):
    (tmp_path / "data.svm").write_bytes(content)
    with pytest.raises(InvalidInput, match=words):
        Logistic(data=tmp_path / "data.svm")


def test_a_truncated_or_false_gzip_file_is_refused(tmp_path):
    (tmp_path / "short.gz").write_bytes(gzip.compress(TEXT)[:-12])
    (tmp_path / "false.gz").write_bytes(TEXT)
    for name in ("short.gz", "false.gz"):
        with pytest.raises(InvalidInput, match=f"{name} cannot be read"):
            Logistic(data=tmp_path / name)


# Functions


def test_given_derivatives_are_used_in_place_of_autograd():
    objective = from_function(
        lambda x: float(np.sum(x**2)), 2, gradient=lambda x: 2 * x, hessian_product=lambda x, v: 2 * v
    )
    check_derivatives(objective)
    assert objective.gradient(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]


def test_a_hessian_product_is_offered_only_where_autograd_can_follow():
    def opaque(x):
        return float(x[0]) ** 2

    def slope(x):
        return 2 * x

    assert not from_function(opaque, 1, gradient=slope).offers(Objective.hessian_product)
    assert from_function(opaque, 1, slope, lambda x, v: 2 * v).offers(Objective.hessian_product)
    followed = from_function(lambda x: anp.sum(x**2), 1, gradient=slope)
    assert followed.offers(Objective.hessian_product)
    check_derivatives(followed)
    check_derivatives(from_function(opaque, 1, gradient=slope))


def test_a_function_that_is_nan_everywhere_is_constant():
    assert from_function(lambda x: math.nan, 2).gradient(np.ones(2)).tolist() == [0.0, 0.0]


def test_constant_and_linear_functions_have_derivatives():
    constant, linear = from_function(lambda x: 3.0, 2), from_function(anp.sum, 2)
    x = np.ones(2)
    assert constant.gradient(x).tolist() == [0.0, 0.0]
    assert linear.gradient(x).tolist() == [1.0, 1.0]
    assert linear.hessian_product(x, x).tolist() == [0.0, 0.0]


def assigns(x):
    x[0] = 0.0
    return anp.sum(x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: math.exp(x[0]),
        lambda x: float(x[0]),
        lambda x: np.dot(np.eye(2), x) @ x,
        lambda x: anp.sum(x**3) + np.dot(np.eye(2), x) @ x,
        lambda x: np.vdot(x, x),
        assigns,
    ],
    ids=["math", "float", "numpy", "partly numpy", "no such method", "assignment"],
)
def test_a_function_that_autograd_cannot_follow_is_refused_with_advice(function):
    objective = from_function(function, 2)
    assert isinstance(objective.value(np.ones(2)), float)
    for derive in (
        lambda: objective.gradient(np.ones(2)),
        lambda: objective.hessian_product(np.ones(2), np.ones(2)),
    ):
        with pytest.raises(InvalidInput, match=r"autograd cannot follow.*write it with autograd\.numpy"):
            derive()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x, r"must return one real number, got an array of shape \(2,\)"),
        (lambda x: None, "got NoneType"),
        (lambda x: "many", "got str"),
        (lambda x: anp.sum(x) + 1j, "got complex128"),
    ],
    ids=["array", "nothing", "text", "complex"],
)
def test_a_function_that_does_not_return_a_number_is_refused(function, words):
    objective = from_function(function, 2)
    with pytest.raises(InvalidInput, match=words):
        objective.value(np.ones(2))
    with pytest.raises(InvalidInput, match=words):
        objective.gradient(np.ones(2))


def test_a_mistake_inside_the_function_keeps_its_own_error():
    def broken(x):
        return anp.sum(x) + len(5)

    def warning(x):
        if not isinstance(x, np.ndarray):  # while autograd follows
            raise UserWarning("mine")
        return float(x @ x)

    for function, error, words in ((broken, TypeError, "has no len"), (warning, UserWarning, "^mine$")):
        with pytest.raises(error, match=words):
            from_function(function, 2).gradient(np.ones(2))


def test_a_function_may_have_a_point_without_entries():
    empty = from_function(anp.sum, 0)
    assert (empty.shape, empty.value(np.ones(0)), empty.gradient(np.ones(0)).shape) == ((0,), 0.0, (0,))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("f", 2), "^f must be a function, got 'f'"),
        ((None, 2), "f must be a function, got None"),
        ((rosenbrock, 2, "slope"), "^gradient must be a function"),
        ((rosenbrock, 2, None, 5), "^hessian_product must be a function"),
        ((rosenbrock, "two"), "shape must be a whole number or a tuple"),
        ((rosenbrock, (2, -1)), "shape must be a whole number or a tuple"),
        ((rosenbrock, 2.5), "shape must be a whole number or a tuple"),
    ],
)
def test_wrong_arguments_of_from_function_are_named(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        from_function(*arguments)


def test_a_given_derivative_of_the_wrong_shape_is_named():
    objective = from_function(rosenbrock, 3, lambda x: np.ones(2), lambda x, v: 1.0)
    with pytest.raises(InvalidInput, match=r"the gradient given .* has shape \(2,\); the point has \(3,\)"):
        objective.gradient(np.ones(3))
    with pytest.raises(InvalidInput, match=r"the Hessian product given .* has shape \(\)"):
        objective.hessian_product(np.ones(3), np.ones(3))


# As content


@pytest.mark.parametrize(
    "objective",
    [
        *(example(model, kind) for model in MODELS for kind in ("dense", "sparse")),
        SquaredDistance(to=np.ones((2, 2))),
        from_function(rosenbrock, 4),
    ],
    ids=lambda o: o.name or "from_function",
)
def test_an_objective_survives_pickling_with_its_content(objective):
    x = rng(7).standard_normal(objective.shape)
    if objective.offers(Objective.curvature):
        objective.curvature()  # fills the cache, which must not travel
    copy = pickle.loads(pickle.dumps(objective))
    assert copy == objective
    assert copy.fingerprint() == objective.fingerprint()
    assert copy.value(x) == objective.value(x)
    assert np.array_equal(copy.gradient(x), objective.gradient(x))


def test_different_content_differs():
    base = example(Logistic)
    others = [
        example(SquaredHinge),
        example(Logistic, seed=1),
        example(Logistic, l2=0.0),
        base.take(slice(0, 5)),
        from_function(rosenbrock, 4),
        from_function(rosenbrock, 5),
        from_function(anp.sum, 4),
        from_function(anp.prod, 4),
    ]
    assert len({o.fingerprint() for o in [base, *others]}) == len(others) + 1


@pytest.mark.parametrize("name", ["least-squares", "logistic", "squared-hinge"])
def test_every_model_can_be_chosen_by_name_in_a_problem(name):
    table = {"name": name, "matrix": [[1.0, 2.0], [3.0, 4.0]], "target": [0.0, 1.0], "l2": 1.0}
    problem = optiframe.problem("minimize", objective=table, over={"name": "l2-ball", "radius": 1.0})
    assert problem.function.name == name
    assert problem.function.shape == (2,)


def test_operations_that_are_lacking_are_not_offered():
    class Bare(Objective):
        """Only a value."""

        name = "bare"

        @property
        def shape(self):
            return (2,)

        def value(self, x):
            return float(x @ x)

    bare = Bare()
    assert not any(bare.offers(o) for o in (Objective.gradient, Objective.hessian, Objective.curvature))
    assert bare.lacks(Objective.value) is None
    lacks = bare.lacks(Objective.gradient, Objective.value, Objective.hessian_product)
    assert lacks == "the objective 'bare' has no gradient and no hessian product"
    point = np.ones(2)
    for ask, what in (
        (lambda: bare.gradient(point), "gradient"),
        (lambda: bare.hessian_product(point, point), "Hessian product"),
        (lambda: bare.hessian(point), "Hessian matrix"),
        (bare.curvature, "curvature bound"),
    ):
        with pytest.raises(Unsuited, match=f"the objective 'bare' has no {what}"):
            ask()
    check_derivatives(bare)


def test_a_function_of_several_arguments_is_refused_with_the_way_to_write_it() -> None:
    with pytest.raises(
        InvalidInput, match=r"takes \(x, y\), and is called with one argument, the whole point"
    ):
        from_function(lambda x, y: x * y, 2)
    assert from_function(lambda x, scale=2.0: scale * x[0], 1).value(np.ones(1)) == 2.0


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_least_squares_over_some_columns_are_those_of_lapack(sparse: bool, l2: float) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((30, 8)) * (rng.random((30, 8)) < 0.7) * 10.0 ** rng.integers(-8, 9, 8)
    target = rng.standard_normal(30)
    function = LeastSquares(matrix=sp.csr_array(matrix) if sparse else matrix, target=target, l2=l2)
    for indices in (np.array([5]), np.array([1, 5, 6]), np.arange(8)):
        found = function.minimizer_on(indices)
        assert found is not None
        rows = np.vstack([matrix[:, indices], np.sqrt(30 * l2) * np.eye(len(indices))])
        wanted = np.linalg.lstsq(
            rows / np.linalg.norm(rows, axis=0), np.append(target, np.zeros(len(indices))), rcond=None
        )[0] / np.linalg.norm(rows, axis=0)
        assert found == pytest.approx(wanted, rel=1e-8)


def test_least_squares_over_some_columns_do_not_depend_on_what_was_asked_before() -> None:
    rng = np.random.default_rng(1)
    matrix, target = rng.standard_normal((200, 90)), rng.standard_normal(200)
    fresh, used = (LeastSquares(matrix=matrix, target=target) for _ in range(2))
    for k in range(0, 80, 7):
        assert used.minimizer_on(np.arange(k, k + 9)) is not None
    assert np.array_equal(fresh.minimizer_on(np.arange(60)), used.minimizer_on(np.arange(60)))


def test_threads_may_share_least_squares(monkeypatch: pytest.MonkeyPatch) -> None:
    products = Columns.products

    def slow_products(columns: Columns, *arguments):
        time.sleep(0.002)  # other threads go on meanwhile
        return products(columns, *arguments)

    monkeypatch.setattr(Columns, "products", slow_products)
    matrix, target = rng(1).standard_normal((60, 96)), rng(2).standard_normal(60)
    asked = [np.array([k, k + 16, k + 32]) for k in range(0, 64, 16)]
    alone, shared = (LeastSquares(matrix=matrix, target=target) for _ in range(2))
    wanted = [alone.minimizer_on(indices) for indices in asked]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(shared.minimizer_on, asked))
    assert np.array_equal(found, wanted)


def test_columns_that_are_nearly_alike_have_no_minimizer_of_their_own() -> None:
    rng = np.random.default_rng(2)
    column = rng.standard_normal((20, 1))
    matrix = np.hstack([column, column * (1 + 1e-13), np.zeros((20, 1))])
    function = LeastSquares(matrix=matrix, target=rng.standard_normal(20))
    assert function.minimizer_on(np.array([0, 1])) is None
    assert function.minimizer_on(np.array([2])) is None
    assert function.minimizer_on(np.array([0])) is not None


@pytest.mark.parametrize("size", [1e-160, 1e200])
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_columns_whose_products_are_no_ordinary_numbers_have_no_minimizer_of_their_own(size: float) -> None:
    matrix = np.random.default_rng(3).standard_normal((20, 2)) * size
    function = LeastSquares(matrix=matrix, target=np.ones(20))
    assert function.minimizer_on(np.array([0, 1])) is None


@models
@kinds
def test_a_model_over_some_columns_is_the_model_at_points_that_are_zero_elsewhere(model, kind):
    function, indices = example(model, kind, columns=6), np.array([4, 1])
    part, x = function.on_columns(indices), np.zeros(6)
    x[indices] = [0.5, -2.0]
    assert part.value(x[indices]) == pytest.approx(function.value(x))
    assert part.gradient(x[indices]) == pytest.approx(function.gradient(x)[indices])


@models
@kinds
def test_rows_of_the_hessian_are_those_of_the_matrix_whatever_is_asked_for_first(model, kind):
    function = example(model, kind, rows=40, columns=30)
    x = rng(3).standard_normal(30) / 10
    wanted, rows = function.hessian(x), function.hessian_rows(x)
    for indices in (np.array([7]), np.array([29, 0]), np.arange(3, 20), np.arange(30)):
        assert rows.rows(indices) == pytest.approx(wanted[indices])
        assert rows.among(indices) == pytest.approx(wanted[np.ix_(indices, indices)])
    above = function.steepest_hessian().rows(np.arange(30))
    assert np.linalg.eigvalsh(above - wanted).min() > -1e-12


@kinds
def test_rows_that_agree_in_columns_and_target_are_counted_once(kind):
    values = rng(4).integers(0, 3, (500, 4)) / 3.0
    matrix = np.column_stack([values, rng(5).standard_normal(500)])
    target = rng(6).choice([-1.0, 1.0], 500)
    function = Logistic(matrix=sp.csr_array(matrix) if kind == "sparse" else matrix, target=target)
    for indices in (np.array([2]), np.array([0, 3])):
        first, counts = function.rows_alike(indices)
        seen = np.column_stack([matrix[:, indices], target])
        wanted, sizes = np.unique(seen, axis=0, return_counts=True)
        order = np.lexsort(seen[first].T[::-1])
        assert np.array_equal(seen[first][order], wanted)
        assert np.array_equal(counts[order], sizes)
    assert function.rows_alike(np.array([0, 4])) is None  # a column of many values
    assert function.rows_alike(np.arange(4)) is None  # too many groups


def test_rows_are_compared_in_more_columns_than_a_table_has_room_for():
    kinds_of_rows = rng(7).integers(0, 2, (5, 40)).astype(float)
    which = rng(8).integers(0, 5, 1000)
    function = Logistic(matrix=kinds_of_rows[which], target=np.where(which > 2, 1.0, -1.0))
    first, counts = function.rows_alike(np.arange(40))
    assert sorted(counts) == sorted(np.bincount(which))
    assert sorted(which[first]) == [0, 1, 2, 3, 4]
