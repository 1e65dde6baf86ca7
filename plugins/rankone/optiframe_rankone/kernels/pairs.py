"""Passes over pairs of workers: counted, or summed over straight from the labels."""

from __future__ import annotations

from optiframe.native import native
from optiframe_rankone.kernels import reference

count_pairs = native(reference.count_pairs)
count_table = native(reference.count_table)
misses = native(reference.misses)
sweep = native(reference.sweep)
sweep_dense = native(reference.sweep_dense)
label_pulls = native(reference.label_pulls)
label_weights = native(reference.label_weights)
task_pulls = native(reference.task_pulls)
