"""Groups of one view: what may be given, and what is said when it is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from optiframe_tvcs import Groups

from optiframe import InvalidInput
from optiframe.records.fingerprint import fingerprint


def test_labels_and_lists_describe_the_same_groups() -> None:
    by_labels = Groups.of_labels([0, 1, -1, 0, 1], [2, 1])
    by_lists = Groups.of_lists([[0, 3], [1, 4]], [2, 1], size=5)
    assert by_labels.labels.dtype == np.int32
    assert by_labels.caps.dtype == np.int64
    assert fingerprint(by_labels) == fingerprint(by_lists)
    assert (len(by_lists), by_lists.size) == (2, 5)


def test_one_bound_stands_for_all_groups() -> None:
    assert Groups.of_labels([0, 2, 2], 4).caps.tolist() == [4, 4, 4]
    assert Groups.of_lists([[1], [0]], 0, size=2).caps.tolist() == [0, 0]


def test_a_label_that_does_not_occur_is_a_group_without_elements() -> None:
    groups = Groups.of_labels([0, 0, 3], [1, 1, 1, 1, 1])
    assert groups.counts(np.array([True, True, True])).tolist() == [2, 0, 0, 1, 0]


def test_counts_leave_out_what_is_in_no_group() -> None:
    assert Groups.of_labels([-1, 0, -1], 1).counts(np.array([True, True, True])).tolist() == [1]


def test_what_is_given_is_copied_and_what_is_kept_is_read_only() -> None:
    labels = np.array([0, 1], dtype=np.int32)
    groups = Groups.of_labels(labels, [1, 1])
    labels[0] = 1
    assert groups.labels.tolist() == [0, 1]
    assert not groups.labels.flags.writeable
    assert not groups.caps.flags.writeable


def test_scaled_bounds_are_multiplied() -> None:
    assert Groups.of_labels([0, 1], [1, 3]).scaled(2).caps.tolist() == [2, 6]


def test_it_is_shown_by_its_size() -> None:
    assert repr(Groups.of_labels([0, 1, 1], 1)) == "<2 groups of 3 elements>"


@pytest.mark.parametrize(
    ("labels", "bounds", "said"),
    [
        ([0, 1, -2], 1, "authors: label of element 2 is -2; labels start at 0, and -1 stands for no group"),
        ([0, 1, 2], [1, 1], "authors: element 2 is in group 2, and there are bounds for 2 groups"),
        ([0.0, 0.5], 1, "authors: labels must be whole numbers, entry 1 is 0.5"),
        ([0.0, np.nan], 1, "authors: labels must be whole numbers, entry 1 is nan"),
        (["a", "b"], 1, "authors: labels must be whole numbers, entry 0 is 'a'"),
        (["a", "b"], 1, "numpy.unique(names, return_inverse=True)[1] numbers names"),
        ([True, False], 1, "authors: labels must be whole numbers, entry 0 is True"),
        ([0.0, 1.0], 1, "authors: labels must be whole numbers, entry 0 is 0 (float64)"),
        ([0, None], 1, "authors: labels must be whole numbers, entry 1 is None"),
        ([0, 10**30], 1, "authors: labels must be whole numbers, entry 1 is 1000000000"),
        (np.ma.masked_array([0, 1], [0, 1]), 1, "authors: labels must be whole numbers, and some are masked"),
        ([0, 10**8], 1, "authors: label of element 1 is 100000000, so that most groups would be empty"),
        ([[0, 1], [0, 1]], 1, "authors: labels must be one number an element, got shape (2, 2)"),
        ([[0], [0, 1]], 1, "authors: labels must be a list of whole numbers"),
        ([0, 2**40], 1, "authors: label 1099511627776 is too large"),
        ([0, 1], [1, -1], "authors: the bound of group 1 is -1; it must be at least 0"),
        ([0, 1], -1, "authors: the bound of every group is -1"),
        ([0, 1], [1.0, 0.5], "authors: bounds must be whole numbers, entry 1 is 0.5"),
        ([0, 1], 1.5, "authors: bounds must be whole numbers, got 1.5"),
        ([0, 1], [1, np.inf], "authors: bounds must be whole numbers"),
        ([0, 1], "two", "authors: bounds must be whole numbers, got 'two'"),
        ([0, 1], [1], "authors: element 1 is in group 1, and there are bounds for 1 groups"),
        ([0, 1], [[1], [1, 2]], "authors: bounds must be a list of whole numbers"),
        ([0, 1], [[1], [1]], "authors: bounds must be one number, or one for each group; got shape (2, 1)"),
    ],
)
def test_wrong_labels_and_bounds_are_named(labels: object, bounds: object, said: str) -> None:
    with pytest.raises(InvalidInput) as error:
        Groups.of_labels(labels, bounds, "authors")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ([[0, 1], [1, 2]], "topics: group 1: element 1 is in group 0, too; groups of one view"),
        ([[0], []], "topics: group 1 is empty; leave it out, or list the indices of its elements"),
        ([[0], [3]], "topics: group 1: index 3 is out of range; indices run from 0 to 2"),
        ([[-1]], "topics: group 0: index -1 is out of range"),
        ([[0, 0]], "topics: group 0: element 0 is listed twice"),
        ([[0.5]], "topics: group 0 must be whole numbers, entry 0 is 0.5"),
        ([[[0]]], "topics: group 0 must be a list of indices, got shape (1, 1)"),
        ([0, 1], "topics: group 0 must be a list of indices"),
        ("ab", "topics: groups must be a list of lists of indices"),
    ],
)
def test_wrong_lists_are_named(groups: object, said: str) -> None:
    with pytest.raises(InvalidInput) as error:
        Groups.of_lists(groups, 1, 3, "topics")
    assert said in str(error.value)


def test_a_bound_for_a_group_that_is_not_listed_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="topics: 3 bounds for 1 groups"):
        Groups.of_lists([[0]], [1, 1, 1], 2, "topics")


def test_a_group_of_no_elements_has_no_range_to_name() -> None:
    with pytest.raises(InvalidInput, match="index 0 is out of range; there are no elements"):
        Groups.of_lists([[0]], 1, 0)


def test_a_bound_beyond_any_number_of_elements_can_be_doubled() -> None:
    groups = Groups.of_labels([0, 0, 1], [2**63 - 1, 1])
    assert groups.scaled(2).caps.tolist() == [2**63 - 2, 2]
