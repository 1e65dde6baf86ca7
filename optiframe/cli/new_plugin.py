"""`optiframe new-plugin`: a distribution of one's own, that works from the first minute."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata, resources, util
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from optiframe.errors import DISTRIBUTION, InvalidInput
from optiframe.registry.contracts import GROUP, KINDS, normalise
from optiframe.registry.registry import registry

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_SUFFIX = ".txt"  # on every file of the template, so that no tool here takes it for code of ours
_RENAMED = {"gitignore": ".gitignore"}  # under its own name it would hide files from us


# What a plugin may begin with: the name of its member, and how that is checked.
_STARTERS = {
    "solver": ("{name}.momentum", "optiframe check {name}.momentum"),
    "problem": ("{name}", "optiframe solve doses.toml"),
    "objective": ("{name}.soft-distance", "optiframe check {name}.soft-distance --set 'to=[1.0, 2.0]'"),
    "set": ("{name}.monotone", "optiframe check {name}.monotone"),
    "part": ("regularizer.{name}", "optiframe check regularizer.{name}"),
}


@click.command("new-plugin", short_help="write a plugin of your own")
@click.argument("name")
@click.option(
    "--problem", "kind", flag_value="problem", help="Write the skeleton of a problem instead of a solver's."
)
@click.option("--objective", "kind", flag_value="objective", help="Write the skeleton of an objective.")
@click.option("--set", "kind", flag_value="set", help="Write the skeleton of a constraint set.")
@click.option(
    "--part", "kind", flag_value="part", help="Write the skeleton of a regularizer, a part of methods."
)
@click.option(
    "--folder", metavar="PATH", type=click.Path(), help="Where to write; default: optiframework-NAME, here."
)
def command(name: str, kind: str | None, folder: str | None) -> None:
    """Write a plugin NAME: a distribution optiframework-NAME with one solver, its tests and a comparison.

    Or with one problem, objective, constraint set or part, and its tests. It installs, appears in
    `optiframe list` and passes its tests as it is; put your own in the place of what it brings.
    Exit code 2 when the name is taken or the folder is not empty.
    """
    name = valid_name(name)
    target = Path(folder) if folder is not None else Path(f"{DISTRIBUTION}-{name}")
    kind = kind or "solver"
    written = write_plugin(name, target, kind)
    click.echo(f"{click.style(f'{DISTRIBUTION}-{name}', fg='cyan', bold=True)} in {target}")
    for path in written:
        click.echo(f"  {path.relative_to(target)}")
    shown = f'"{target}"' if " " in str(target) else target
    click.echo(
        f"\nnext:\n  cd {shown}\n"
        '  python -m pip install --editable ".[dev]"\n'
        f"  optiframe describe {_STARTERS[kind][0].format(name=name)}\n"
        f"  {_STARTERS[kind][1].format(name=name)}\n"
        "  python -m pytest"
    )


def valid_name(given: str) -> str:
    """The name in its normal form: lower case, with hyphens, without ``optiframework-`` in front.

    Raises
    ------
    InvalidInput
        When it is no name, or is taken here by a distribution, a package, a plugin, or a
        family of names.
    """
    name = normalise(given.strip()).removeprefix(f"{DISTRIBUTION}-").removeprefix(f"{GROUP}-")
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{given!r} cannot name a plugin: give lower-case letters and digits that begin with a letter, "
            "in parts joined by hyphens, such as my-method"
        )
    if name in (GROUP, DISTRIBUTION):
        raise InvalidInput(f"{given!r} is the framework's own name; choose another")
    taken = _taken(name)
    if taken is not None:
        raise InvalidInput(f"the name {name!r} is taken here: {taken}; choose another name")
    return name


def package_of(name: str) -> str:
    """The package to import."""
    return f"{GROUP}_{name.replace('-', '_')}"


def _taken(name: str) -> str | None:
    """By what, in words; None when it is free."""
    distribution, package = f"{DISTRIBUTION}-{name}", package_of(name)
    try:
        return f"{distribution} {metadata.version(distribution)} is installed"
    except metadata.PackageNotFoundError:
        pass
    if util.find_spec(package) is not None:
        return f"there is a package {package}"
    names = registry()
    for plugin in names.plugins:
        if normalise(plugin.name) == name:
            return f"{plugin.distribution} has a plugin {plugin.name!r}"
    for kind in KINDS:
        for entry in names.entries(kind):
            family, dot, _ = entry.name.partition(".")
            if dot and family == name:
                return f"{entry.distribution} has the {kind} {entry.name}"
    return None


def write_plugin(name: str, target: Path, kind: str = "solver") -> list[Path]:
    """Write the plugin with a member of this kind to a folder that is new or empty; the files, in order.

    Raises
    ------
    InvalidInput
        When the folder holds something, or cannot be written to. Nothing is overwritten.
    """
    words = {
        "name": name,
        "package": package_of(name),
        "distribution": f"{DISTRIBUTION}-{name}",
        "title": name.replace("-", " ").capitalize(),
        "core": metadata.version(DISTRIBUTION),
    }
    written = []
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            what = "is not empty" if target.is_dir() else "is a file"
            raise InvalidInput(f"{target} {what}; give another place with --folder")
        for parts, source in _template(kind):
            path = target.joinpath(*(words["package"] if part == "package" else part for part in parts))
            path.parent.mkdir(parents=True, exist_ok=True)
            text = re.sub(r"@(\w+)@", lambda found: words[found[1]], source.read_text(encoding="utf-8"))
            path.write_text(text, encoding="utf-8")
            written.append(path)
    except OSError as error:
        raise InvalidInput(f"{error.filename or target} cannot be written: {error.strerror}") from None
    return written


def _template(kind: str) -> Iterator[tuple[tuple[str, ...], Traversable]]:
    """Path below the folder, and content of every file: those of all plugins, and those of the kind."""

    def walk(folder: Traversable, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Traversable]]:
        for item in sorted(folder.iterdir(), key=lambda item: (item.is_dir(), item.name)):
            if item.is_dir():
                yield from walk(item, (*above, item.name))
            elif item.name.endswith(_SUFFIX):
                name = item.name.removesuffix(_SUFFIX)
                yield (*above, _RENAMED.get(name, name)), item

    for folder in ("all", kind):
        yield from walk(resources.files("optiframe.testing") / "template" / folder, ())
