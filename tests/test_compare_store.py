"""The store: what is committed stays, what is not ours is left alone, claims are fair."""

from __future__ import annotations

import dataclasses
import errno
import fcntl
import math
import os
import re
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from optiframe import Status
from optiframe.cli.export import command as export_command
from optiframe.comparison.records import Records, Row
from optiframe.comparison.store.claims import Claims
from optiframe.comparison.store.export import cell_columns, export, trace_columns
from optiframe.comparison.store.failures import StoreFailed
from optiframe.comparison.store.rows import from_json, to_json
from optiframe.comparison.store.schema import FILE
from optiframe.comparison.store.store import Store, load
from optiframe.errors import InvalidInput

from .comparing import cell, outcome, plan_of

ENVIRONMENT = {"python": "3", "memory": 1}


def run_into(folder: Path, *finished, plan=None):
    """A store with a run whose cells ended as given: pairs of a cell and an outcome."""
    plan = plan or plan_of(*(one for one, _ in finished))
    with Store(folder) as store:
        store.begin(plan, ENVIRONMENT)
        for one, ended in finished:
            assert store.claim(one.key) == "claimed"
            assert store.finish(one.key, ended)
        store.end()
    return plan


def same(first, second) -> bool:
    """Equality in which nan equals nan."""
    if isinstance(first, float) and isinstance(second, float):
        return first == second or (math.isnan(first) and math.isnan(second))
    if isinstance(first, dict) and isinstance(second, dict):
        return list(first) == list(second) and all(same(first[k], second[k]) for k in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second)


# --- what goes in comes out -----------------------------------------------------------------------


def test_an_outcome_comes_back_as_it_was(tmp_path):
    one, given = cell(seed=2**70), outcome()
    run_into(tmp_path, (one, given))
    (row,) = load(tmp_path).rows
    assert (row.problem, row.solver, row.seed, row.key) == ("bowl", "descent", 2**70, one.key)
    for field in dataclasses.fields(given):
        assert same(getattr(row.outcome, field.name), getattr(given.printable(), field.name)), field.name
    assert (tmp_path / "tracebacks" / f"{one.key[:16]}.txt").read_text() == given.traceback


def test_an_outcome_without_an_answer_comes_back_as_it_was(tmp_path):
    given = dataclasses.replace(
        outcome(), status=Status.CRASHED, objective=math.nan, trace={}, metrics={}, traceback=""
    )
    run_into(tmp_path, (cell(), given))
    (row,) = load(tmp_path).rows
    assert row.outcome.status is Status.CRASHED
    assert math.isnan(row.outcome.objective)
    assert row.outcome.trace == {}
    assert not (tmp_path / "tracebacks").exists()


def test_half_characters_in_messages_can_be_stored(tmp_path):
    run_into(tmp_path, (cell(), outcome(message="file \udcff", stderr="\udcff", traceback="\udcff")))
    assert load(tmp_path).rows[0].outcome.message == "file ?"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_any_document_comes_back(value):
    assert same(from_json(to_json(value)), value)


def test_rows_are_in_the_plans_order_and_not_in_that_of_running(tmp_path):
    cells = [cell(solver=name) for name in "cab"]
    run_into(tmp_path, *((one, outcome()) for one in cells), plan=plan_of(*cells, positions=(2, 0, 1)))
    assert load(tmp_path).solvers == ["a", "b", "c"]
    with Store(tmp_path, create=False) as store:
        plan = store.plan()
    assert plan == dataclasses.replace(plan_of(*cells, positions=(2, 0, 1)), output=tmp_path)


def test_records_say_what_was_run_where_and_when(tmp_path):
    folder = tmp_path / "first try"
    plan = plan_of(cell(), gaps=(0.1,), better={"error": "lower"})
    run_into(folder, (cell(), outcome()), plan=plan)
    records = load(folder)
    assert (records.config, records.gaps, records.better) == (plan.text, (0.1,), {"error": "lower"})
    assert (records.environment, records.title) == (ENVIRONMENT, "first try")
    assert records.started < records.ended


def test_the_latest_plan_counts_and_a_cell_of_both_is_kept(tmp_path):
    run_into(tmp_path, (cell(seed=0), outcome(5.0)), (cell(seed=1), outcome(6.0)))
    with Store(tmp_path) as store:
        store.begin(plan_of(cell(seed=1), cell(seed=2)), ENVIRONMENT)
        assert store.claim(cell(seed=1).key) == "finished"
        records = store.records()
    assert [row.outcome and row.outcome.objective for row in records.rows] == [6.0, None]
    assert records.ended == ""


def test_one_content_under_two_titles_is_one_cell(tmp_path):
    twin = dataclasses.replace(cell(), problem=dataclasses.replace(cell().problem, title="twin"))
    run_into(tmp_path, (cell(), outcome()), plan=plan_of(cell(), twin))
    assert [(row.problem, row.outcome.objective) for row in load(tmp_path).rows] == [
        ("bowl", 1.0),
        ("twin", 1.0),
    ]


# --- the best known objective ----------------------------------------------------------------------


def test_the_best_objective_is_kept_across_runs_and_only_of_feasible_answers(tmp_path):
    run_into(
        tmp_path,
        (cell(seed=0), outcome(3.0)),
        (cell(seed=1), outcome(2.0)),
        (cell(seed=2), outcome(-1.0, violation=1e-3)),
        (cell(seed=3), outcome(-2.0, status=Status.DIVERGED)),
        (cell(seed=4), outcome(-math.inf)),
        (cell(seed=5), outcome(-3.0, solved="")),
        (cell(seed=6), outcome(7.0, solved="other", violation=1e-7)),
    )
    assert load(tmp_path).best == {"fingerprint": 2.0, "other": 7.0}
    run_into(tmp_path, (cell(seed=9), outcome(2.5)))
    assert load(tmp_path).best == {"fingerprint": 2.0, "other": 7.0}


# --- files that are not ours, damaged, or of another version -----------------------------------------


def edit(folder: Path, *statements: str) -> None:
    connection = sqlite3.connect(folder / FILE)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def refused(folder: Path, *, create: bool) -> str:
    """The message with which a store is refused; its file must stay the same, byte for byte."""
    before = (folder / FILE).read_bytes()
    with pytest.raises(InvalidInput) as caught:
        Store(folder, create=create)
    assert (folder / FILE).read_bytes() == before
    assert str(folder / FILE) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("create", [True, False])
def test_a_newer_schema_is_refused_saying_who_wrote_it(tmp_path, create):
    run_into(tmp_path, (cell(), outcome()))
    edit(
        tmp_path,
        "UPDATE meta SET value = '99' WHERE name = 'schema'",
        "UPDATE meta SET value = '7.1' WHERE name = 'written by'",
    )
    message = refused(tmp_path, create=create)
    assert "optiframe 7.1" in message
    assert "upgrade" in message


def no_database(path: Path) -> None:
    path.write_bytes(b"no database at all, just text\n" * 50)


def only_a_head(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + b"x" * 4000)


def a_damaged_page(path: Path) -> None:
    run_into(path.parent, *((cell(seed=seed), outcome()) for seed in range(20)))
    content = bytearray(path.read_bytes())
    content[3 * 4096 :: 7] = b"\xa5" * len(content[3 * 4096 :: 7])
    path.write_bytes(content)


def a_file_cut_off(path: Path) -> None:
    run_into(path.parent, *((cell(seed=seed), outcome()) for seed in range(20)))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def another_programs(path: Path) -> None:
    edit(path.parent, "CREATE TABLE meta (name TEXT)")


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize("make", [no_database, only_a_head, a_damaged_page, a_file_cut_off, another_programs])
def test_what_is_no_whole_store_of_ours_is_reported_and_not_overwritten(tmp_path, make, create):
    make(tmp_path / FILE)
    assert ("another program" if make is another_programs else "damaged") in refused(tmp_path, create=create)


@pytest.mark.parametrize("create", [True, False])
def test_a_store_without_content_is_refused_and_not_begun_afresh(tmp_path, create):
    run_into(tmp_path, (cell(), outcome()))
    (tmp_path / FILE).write_bytes(b"")
    assert "it is empty" in refused(tmp_path, create=create)
    assert (tmp_path / FILE).stat().st_size == 0


def test_who_is_killed_while_making_a_store_leaves_none(tmp_path):
    script = (
        "import os, signal, sys; from pathlib import Path; from optiframe.comparison.store import schema\n"
        "schema._fill = lambda connection: os.kill(os.getpid(), signal.SIGKILL)\n"
        "schema.connect(Path(sys.argv[1]))"
    )
    assert subprocess.run([sys.executable, "-c", script, tmp_path], check=False).returncode == -signal.SIGKILL
    assert not (tmp_path / FILE).exists()
    run_into(tmp_path, (cell(), outcome()))
    assert len(load(tmp_path).rows) == 1


def test_no_control_character_of_a_stored_text_comes_out_of_it(tmp_path):
    message = "\x1b]0;title\x07 ends\r\nhere\u202e"
    run_into(tmp_path, (cell(), outcome(message=message, metrics={"\x9berror": 1.0})))
    (row,) = load(tmp_path).rows
    assert row.outcome.message == "\\x1b]0;title\\x07 ends\nhere\\u202e"
    assert list(row.outcome.metrics) == ["\\x9berror"]


def test_no_text_of_a_csv_file_is_a_formula(tmp_path):
    run_into(tmp_path, (cell(), outcome(message="=HYPERLINK(1)", metrics={"@cmd": -1.0})))
    (path,) = export(load(tmp_path), cells=[tmp_path / "cells.csv"])
    table = pd.read_csv(path)
    assert table["message"][0] == "'=HYPERLINK(1)"
    assert table["metric.@cmd"][0] == -1.0


ENDLESS = "WITH RECURSIVE n(a, b) AS (SELECT '', 1 UNION ALL SELECT a, b FROM n) SELECT a, b FROM n"


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE plans SET settings = '{}'", "a run that cannot be understood ('gaps' is missing)"),
        ("UPDATE plans SET settings = '{'", "a run that cannot be understood (Expecting property name"),
        (
            'UPDATE entries SET spec = \'{"problem": null, "solver": 3}\'',
            "an entry that cannot be understood",
        ),
        ("UPDATE entries SET seed = 'one'", "an entry that cannot be understood (invalid literal"),
        (
            "UPDATE runs SET environment = '[]'",
            "a run that cannot be understood (a value is of another type)",
        ),
        (
            "UPDATE cells SET times = '[\"a\"]'",
            "a cell that cannot be understood (a value is of another type)",
        ),
        (
            "UPDATE cells SET findings = '[3]'",
            "a cell that cannot be understood (a value is of another type)",
        ),
        ("UPDATE points SET time = 'soon'", "a cell that cannot be understood (a value is of another type)"),
        (f"UPDATE cells SET metrics = '{'[' * 10**5}'", "a cell that cannot be understood (it is nested too"),
        # A view without end in place of a table: whoever reads it waits for ever.
        (f"ALTER TABLE best RENAME TO other; CREATE VIEW best AS {ENDLESS}", "a view 'best', and a store"),
        (
            "CREATE TRIGGER again AFTER INSERT ON runs BEGIN DELETE FROM cells; END",
            "a trigger 'again', and a",
        ),
    ],
)
def test_a_store_of_somebody_else_is_read_or_refused_in_words(
    tmp_path: Path, statement: str, words: str
) -> None:
    with Store(tmp_path) as store:
        store.begin(plan_of(cell()), {})
        store.finish(cell().key, outcome())
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(statement)
    with pytest.raises(InvalidInput, match=re.escape(words)):
        load(tmp_path)


def test_a_status_nobody_knows_is_reported(tmp_path):
    run_into(tmp_path, (cell(), outcome()))
    edit(tmp_path, "UPDATE cells SET status = 'sleepy'")
    with pytest.raises(InvalidInput, match=r"cannot be understood.*sleepy"):
        load(tmp_path)


def test_a_stored_path_cannot_lead_out_of_the_folder(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "results"
    run_into(folder, (cell(), outcome()))
    edit(folder, "UPDATE cells SET traceback = '../../secret.txt'")
    assert load(folder).rows[0].outcome.traceback == ""


# --- reading --------------------------------------------------------------------------------------


def test_a_store_without_a_run_asks_for_one(tmp_path):
    with (
        Store(tmp_path) as store,
        pytest.raises(InvalidInput, match="no run yet; run optiframe compare first"),
    ):
        store.records()


def test_reading_makes_nothing(tmp_path):
    with pytest.raises(InvalidInput, match="holds no comparison"):
        load(tmp_path / "absent")
    assert not (tmp_path / "absent").exists()
    with pytest.raises(InvalidInput, match="holds no comparison"):
        load(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_reading_leaves_the_folder_as_it_was(tmp_path):
    run_into(tmp_path, (cell(), outcome()))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    load(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_store_can_be_read_while_it_is_written(tmp_path):
    with Store(tmp_path) as store:
        store.begin(plan_of(cell(seed=0), cell(seed=1)), ENVIRONMENT)
        store.claim(cell(seed=0).key)
        store.finish(cell(seed=0).key, outcome())
        assert [row.outcome is not None for row in load(tmp_path).rows] == [True, False]
        store.claim(cell(seed=1).key)
        store.finish(cell(seed=1).key, outcome())
    assert [row.outcome is not None for row in load(tmp_path).rows] == [True, True]


def as_nobody(folder: Path, code: str) -> str:
    """What a user without rights on the folder is told; a superuser ignores permissions."""
    program = (
        "import os, sys\n"
        "import optiframe.comparison.store.store as s, optiframe.comparison.store.export\n"
        "if os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        f"from pathlib import Path\nfolder = Path({str(folder)!r})\n{code}"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    return done.stdout + done.stderr


@pytest.fixture
def open_folder(tmp_path):
    """A folder that other users can enter: pytest's own cannot be."""
    import tempfile

    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_to_is_named(open_folder):
    run_into(open_folder, (cell(), outcome()))
    for path in (open_folder / FILE, open_folder):
        path.chmod(path.stat().st_mode & 0o555)
    said = as_nobody(
        open_folder,
        "print(len(s.load(folder).rows), 'rows')\n"
        "try: s.Store(folder)\n"
        "except s.StoreFailed as error: print(error)\n"
        "try: s.Store(folder / 'new')\n"
        "except s.StoreFailed as error: print(error)",
    )
    read, write, new = said.splitlines()
    assert read == "1 rows"
    assert "cannot be written to" in write
    assert str(open_folder / FILE) in write
    assert "cannot make the output folder" in new
    assert sorted(path.name for path in open_folder.iterdir()) == [FILE, "tracebacks"]
    open_folder.chmod(0o755)


@pytest.mark.slow
def test_a_full_disk_is_said_and_loses_nothing(tmp_path):
    """The size of files is limited in a child, which SQLite meets as it meets a full disk."""
    first = cell(seed=0)
    run_into(tmp_path, (first, outcome()))
    limit = (tmp_path / FILE).stat().st_size + 20_000
    trace = {"iteration": list(range(5000)), "objective": [1.0] * 5000}
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from tests.comparing import cell, outcome, plan_of\n"
        "from optiframe.comparison.store.store import Store, StoreFailed\n"
        "store = Store(Path(sys.argv[2]))\n"
        "store.begin(plan_of(cell(seed=0), cell(seed=1)), {})\n"
        "assert store.claim(cell(seed=1).key) == 'claimed'\n"
        f"try: store.finish(cell(seed=1).key, outcome(trace={trace!r}))\n"
        "except StoreFailed as error: print(error)\n"
        "store.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(Path(__file__).parent.parent), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert "disk full" in done.stdout, done
    assert "What was stored is kept" in done.stdout
    assert done.stderr == ""
    rows = load(tmp_path).rows
    assert [(row.seed, row.outcome is not None) for row in rows] == [(0, True), (1, False)]
    run_into(tmp_path, (cell(seed=1), outcome(trace=trace)), plan=plan_of(first, cell(seed=1)))
    assert all(row.outcome is not None for row in load(tmp_path).rows)


# --- claims ---------------------------------------------------------------------------------------


def test_a_cell_is_claimed_once(tmp_path):
    with Store(tmp_path) as first, Store(tmp_path) as second:
        for store in (first, second):
            store.begin(plan_of(cell()), ENVIRONMENT)
        assert first.claim(cell().key) == "claimed"
        assert second.claim(cell().key) == "busy"
        first.release(cell().key)
        assert second.claim(cell().key) == "claimed"
        assert second.finish(cell().key, outcome())
        assert first.claim(cell().key) == "finished"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.slow
def test_a_claim_whose_file_cannot_be_removed_ends_all_the_same(open_folder):
    open_folder.chmod(0o777)
    said = as_nobody(
        open_folder,
        "from optiframe.comparison.store.claims import Claims\n"
        "folder = folder / 'own'; folder.mkdir()\n"
        "claims, others = Claims(folder), Claims(folder)\n"
        "assert claims.take('key')\n"
        "folder.chmod(0o555)\n"
        "claims.give_back('key')\n"
        "print(len(list(folder.iterdir())), 'file,', others.take('key'))\n"
        "folder.chmod(0o755)\n",
    )
    assert said == "1 file, True\n"


def test_the_file_is_closed_even_when_claims_cannot_be_given_back(tmp_path, monkeypatch):
    def interrupted(claims):
        raise KeyboardInterrupt

    store = Store(tmp_path)
    monkeypatch.setattr(Claims, "give_back_all", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.close()
    with pytest.raises(StoreFailed, match="closed database"):
        store.begin(plan_of(cell()), ENVIRONMENT)


def test_closing_gives_back_claims(tmp_path):
    with Store(tmp_path) as first:
        first.begin(plan_of(cell()), ENVIRONMENT)
        first.claim(cell().key)
    with Store(tmp_path) as second:
        second.begin(plan_of(cell()), ENVIRONMENT)
        assert second.claim(cell().key) == "claimed"


@pytest.mark.slow
def test_the_claim_of_a_killed_process_is_free(tmp_path):
    program = (
        "import sys, time; sys.path.insert(0, sys.argv[1])\n"
        "from tests.comparing import cell, plan_of\n"
        "from optiframe.comparison.store.store import Store\n"
        "store = Store(sys.argv[2]); store.begin(plan_of(cell()), {}); print(store.claim(cell().key))\n"
        "sys.stdout.flush(); time.sleep(60)\n"
    )
    root = str(Path(__file__).parent.parent)
    with subprocess.Popen(
        [sys.executable, "-c", program, root, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "claimed\n"
        with Store(tmp_path) as store:
            store.begin(plan_of(cell()), ENVIRONMENT)
            assert store.claim(cell().key) == "busy"
            os.kill(process.pid, signal.SIGKILL)
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # dead, and its number still taken
            assert store.claim(cell().key) == "claimed"
        process.wait()


@pytest.mark.slow
def test_claims_of_one_name_space_hold_in_another(tmp_path):
    """Two containers may share a folder, and each has a process 2 of its own."""
    program = (
        "import sys; from pathlib import Path; from optiframe.comparison.store.claims import Claims\n"
        "print(Claims(Path(sys.argv[1])).take('key'))"
    )
    claims = Claims(tmp_path)
    assert claims.take("key")
    asked = [sys.executable, "-c", program, str(tmp_path)]
    separate = ["unshare", "--user", "--map-root-user", "--pid", "--uts", "--fork"]
    if subprocess.run([*separate, "true"], capture_output=True, check=False).returncode:
        separate = []  # where nobody may make name spaces: at least another process
    for expected in ("False", "True"):
        done = subprocess.run([*separate, *asked], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected
        claims.give_back("key")


def still_open(folder: Path) -> int:
    """How many files of a folder this process has open, those removed since among them."""
    count = 0
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            count += os.readlink(f"/proc/self/fd/{number}").startswith(str(folder))
    return count


def test_a_claim_elsewhere_leaves_no_file_open_and_anybody_may_lock_its_file(tmp_path):
    usual = os.umask(0)
    try:
        first, second = Claims(tmp_path), Claims(tmp_path)
        assert first.take("key")
    finally:
        os.umask(usual)
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o666
    assert not second.take("key")
    assert still_open(tmp_path) == 1


def test_a_claim_whose_file_went_meanwhile_is_made_of_the_next_file(tmp_path, monkeypatch):
    locked = []

    def lock(file, how):
        if not locked:  # whoever had the claim gives it back between the opening and the locking
            next(tmp_path.iterdir()).unlink()
        locked.append(file)
        flock(file, how)

    flock = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", lock)
    claims = Claims(tmp_path)
    assert claims.take("key")
    assert len(locked) == 2
    assert still_open(tmp_path) == 1
    assert not Claims(tmp_path).take("key")


def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch):
    def refuse(file, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StoreFailed, match=r"cannot lock .*: No locks available; choose another folder"):
        Claims(tmp_path).take("key")


def test_a_folder_that_cannot_be_locked_is_named(tmp_path):
    with pytest.raises(StoreFailed, match=r"cannot lock .*absent.*choose another folder"):
        Claims(tmp_path / "absent").take("key")


def test_a_claim_of_a_moved_folder_leaves_that_of_the_one_in_its_place(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    before, after = Claims(folder), Claims(folder)
    assert before.take("key")
    folder.rename(tmp_path / "moved")
    folder.mkdir()
    assert after.take("key")
    before.give_back_all()
    assert not Claims(folder).take("key")
    after.give_back_all()
    assert not list(folder.iterdir())


def test_a_deleted_folder_is_not_made_again_and_its_loss_is_said(tmp_path):
    folder = tmp_path / "results"
    with Store(folder) as store:
        store.begin(plan_of(cell(), cell(seed=1)), ENVIRONMENT)
        store.claim(cell().key)
        shutil.rmtree(folder)
        for write in (
            lambda: store.finish(cell().key, outcome()),
            lambda: store.claim(cell(seed=1).key),
            store.end,
        ):
            with pytest.raises(StoreFailed, match="was deleted, moved or replaced"):
                write()
    assert not folder.exists()


def test_a_store_that_took_our_place_is_left_alone(tmp_path):
    folder = tmp_path / "results"
    with Store(folder) as store:
        store.begin(plan_of(cell()), ENVIRONMENT)
        store.claim(cell().key)
        folder.rename(tmp_path / "moved")
        run_into(folder, (cell(), outcome(7.0)))
        with pytest.raises(StoreFailed, match="replaced"):
            store.finish(cell().key, outcome(1.0))
    assert load(folder).rows[0].outcome.objective == 7.0


def test_a_run_is_told_of_its_own_plan_whatever_another_has_begun(tmp_path):
    with Store(tmp_path) as first, Store(tmp_path) as second:
        first.begin(plan_of(cell(seed=0)), ENVIRONMENT)
        second.begin(plan_of(cell(seed=1), cell(seed=2)), ENVIRONMENT)
        assert [row.seed for row in first.records().rows] == [0]
        assert [one.seed for one in first.plan().cells] == [0]
        assert [row.seed for row in second.records().rows] == [1, 2]
    assert [row.seed for row in load(tmp_path).rows] == [1, 2]


def test_whoever_finishes_first_wins(tmp_path):
    with Store(tmp_path) as first, Store(tmp_path) as second:
        for store in (first, second):
            store.begin(plan_of(cell()), ENVIRONMENT)
        first.claim(cell().key)
        assert second.finish(cell().key, outcome(1.0))
        assert not first.finish(cell().key, outcome(2.0))
        assert first.records().rows[0].outcome.objective == 1.0


def test_a_failed_cell_is_replaced_when_asked_and_only_once(tmp_path):
    run_into(tmp_path, (cell(), outcome(status=Status.TIMEOUT)))
    with Store(tmp_path) as first, Store(tmp_path) as second:
        for store in (first, second):
            store.begin(plan_of(cell()), ENVIRONMENT)
        again = first.failed()[cell().key]
        assert first.claim(cell().key) == "finished"
        assert first.claim(cell().key, again) == "claimed"
        assert first.records().rows[0].outcome.status is Status.TIMEOUT
        assert first.finish(cell().key, outcome(4.0, trace={"objective": [4.0]}), again)
        assert second.claim(cell().key, again) == "finished"
        (row,) = first.records().rows
        assert row.outcome.status is Status.CONVERGED
        assert row.outcome.trace == {"objective": [4.0]}
        assert first.failed() == {}


def test_many_openers_at_once_make_one_store(tmp_path):
    errors = []

    def open_and_claim(number):
        try:
            with Store(tmp_path / "new") as store:
                store.begin(plan_of(*(cell(seed=seed) for seed in range(8))), ENVIRONMENT)
                for seed in range(8):
                    if store.claim(cell(seed=seed).key) == "claimed":
                        store.finish(cell(seed=seed).key, outcome(float(number)))
        except Exception as error:  # shown by the assertion below
            errors.append(error)

    threads = [threading.Thread(target=open_and_claim, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert all(row.outcome is not None for row in load(tmp_path / "new").rows)


# --- export ---------------------------------------------------------------------------------------


@pytest.fixture
def stored(tmp_path):
    folder = tmp_path / "results"
    cells = [cell("a, b"), cell("a, b", seed=1), cell("c\nd"), cell("never run")]
    failed = outcome(math.nan, status=Status.ERROR, metrics={}, trace={}, versions={})
    run_into(
        folder,
        (cells[0], outcome(1.0)),
        (cells[1], outcome(2.0, metrics={"error": 0.5})),
        (cells[2], failed),
        plan=plan_of(*cells),
    )
    return folder


def test_cells_and_traces_are_read_alike_by_pandas_and_polars(stored, tmp_path):
    done = CliRunner().invoke(
        export_command,
        [str(stored), "--csv", str(tmp_path / "x.csv"), "--parquet", str(tmp_path / "x.parquet"), "--trace"],
    )
    assert done.exit_code == 0, done.output
    csv, parquet = pd.read_csv(tmp_path / "x.csv"), pd.read_parquet(tmp_path / "x.parquet")
    polar = pl.read_parquet(tmp_path / "x.parquet")
    for frame in (csv, parquet, pl.read_csv(tmp_path / "x.csv"), polar):
        assert list(frame["problem"]) == ["a, b", "a, b", "c\nd", "never run"]
        assert list(frame["metric.error"])[:2] == [0.25, 0.5]
    assert list(polar["status"]) == ["converged", "converged", "error", None]
    assert list(parquet["status"])[:3] == ["converged", "converged", "error"]
    assert list(polar["seed"]) == [0, 1, 0, 0]
    assert parquet["iterations"].tolist()[:3] == [3, 3, 3]
    assert parquet["metric.unbounded"][0] == math.inf
    assert np.isnan(parquet["objective"][2])
    assert list(csv.columns) == list(parquet.columns) == polar.columns
    trace = pd.read_parquet(tmp_path / "x-trace.parquet")
    assert len(trace) == 6
    assert trace["info.step"][0] == 1.0
    assert trace["objective"].tolist()[:3] == [9.0, math.inf, 1.0]
    assert len(pl.read_csv(tmp_path / "x-trace.csv")) == 6


def test_parameters_have_columns_that_say_what_the_file_set(tmp_path):
    swept = [
        {"name": "scipy.lbfgs", "memory": 5, "step": 0.5, "verbose": True},
        {"name": "scipy.lbfgs", "memory": 20, "step": "scaled", "inner": {"name": "x", "tries": [1, 2]}},
        {"name": "scipy.lbfgs", "step": 1, "seed": {"from": "seed"}, "grid": list(range(1000))},
    ]
    cells = [
        dataclasses.replace(one, solver=dataclasses.replace(one.solver, table=table))
        for one, table in zip((cell(seed=seed) for seed in range(3)), swept, strict=True)
    ]
    made = dataclasses.replace(cells[0], problem=dataclasses.replace(cells[0].problem, table=None))
    run_into(tmp_path / "a", *((one, outcome()) for one in cells))
    columns = cell_columns(load(tmp_path / "a"))
    assert {name: column.tolist() for name, column in columns.items() if name.startswith("solver.")} == {
        "solver.memory": [5, 20, None],
        "solver.step": ["0.5", "scaled", "1"],
        "solver.verbose": [True, None, None],
        "solver.inner.name": [None, "x", None],
        "solver.inner.tries": [None, "[1, 2]", None],
    }
    assert columns["problem.objective.name"].tolist() == ["least-squares"] * 3
    export(load(tmp_path / "a"), cells=[tmp_path / "a.parquet"])
    assert pd.read_parquet(tmp_path / "a.parquet")["solver.memory"].tolist()[:2] == [5, 20]
    run_into(tmp_path / "b", (made, outcome()))
    assert not any(name.startswith("problem.") for name in cell_columns(load(tmp_path / "b")))


@pytest.mark.parametrize("large", [2**70, 10**400])
@pytest.mark.parametrize("other", [1, 2.5])
def test_whole_numbers_too_large_for_a_column_of_numbers_are_text(tmp_path, large, other):
    cells = [
        dataclasses.replace(one, solver=dataclasses.replace(one.solver, table={"name": "x", "key": key}))
        for one, key in zip((cell(seed=seed) for seed in range(2)), (large, other), strict=True)
    ]
    run_into(tmp_path / "a", *((one, outcome()) for one in cells))
    assert cell_columns(load(tmp_path / "a"))["solver.key"].tolist() == [str(large), str(other)]
    export(load(tmp_path / "a"), cells=[tmp_path / "a.parquet"])


def test_export_does_not_overwrite_without_force(stored, tmp_path):
    target = tmp_path / "cells.csv"
    target.write_text("precious")
    with pytest.raises(InvalidInput, match="exists already"):
        export(load(stored), cells=[tmp_path / "new.csv", target])
    assert target.read_text() == "precious"
    assert not (tmp_path / "new.csv").exists()
    export(load(stored), cells=[target], force=True)
    assert len(pd.read_csv(target)) == 4


def test_export_asks_where_to(stored):
    done = CliRunner().invoke(export_command, [str(stored)])
    assert isinstance(done.exception, InvalidInput)
    assert "--csv FILE" in str(done.exception)


def test_export_refuses_a_name_that_ends_in_something_else(stored, tmp_path):
    for option, name in (("--parquet", "c.pq"), ("--csv", "c.parquet")):
        done = CliRunner().invoke(export_command, [str(stored), option, str(tmp_path / name)])
        assert isinstance(done.exception, InvalidInput)
        assert f"must end in .{option[2:]}" in str(done.exception)
    assert not list(tmp_path.glob("c.*"))


def test_columns_of_an_empty_comparison_are_empty():
    records = Records((), {}, (), {})
    assert {len(column) for column in cell_columns(records).values()} == {0}
    assert {len(column) for column in trace_columns(records).values()} == {0}


def test_a_huge_message_does_not_make_every_row_huge():
    rows = [
        Row(str(i), "p", "s", "p", "s", i, outcome(stderr="x" * 60_000 if i == 0 else "")) for i in range(50)
    ]
    column = cell_columns(Records(tuple(rows), {}, (), {}))["stderr"]
    assert column.nbytes < 60_000


def test_a_provisional_outcome_is_shown_and_replaced_and_replaces_nothing(tmp_path):
    changed = outcome(status=Status.ERROR, message="the file changed", provisional=True)
    run_into(tmp_path, (cell(), changed), (cell(seed=1), outcome(status=Status.TIMEOUT)))
    with Store(tmp_path) as store:
        store.begin(plan_of(cell(), cell(seed=1)), ENVIRONMENT)
        again = store.failed()
        assert set(store.finished()) == set(again) == {cell(seed=1).key}
        assert [row.outcome.provisional for row in store.records().rows] == [True, False]
        assert store.claim(cell(seed=1).key, again[cell(seed=1).key]) == "claimed"
        assert not store.finish(cell(seed=1).key, changed, again[cell(seed=1).key])
        assert store.claim(cell().key) == "claimed"
        assert store.finish(cell().key, outcome())
        assert [row.outcome.status for row in store.records().rows] == [Status.CONVERGED, Status.TIMEOUT]
