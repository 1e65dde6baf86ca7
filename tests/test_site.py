"""The documentation site: built strictly, complete, self-contained, and fit for a phone."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from urllib.parse import unquote, urlsplit

import pytest
from mkdocs.exceptions import PluginError
from playwright.sync_api import Browser

import optiframe

pytestmark = [pytest.mark.slow, pytest.mark.ci]  # a build of all pages, and a browser over them

ROOT = Path(__file__).parent.parent
PLUGINS = ("rankone", "hodgerank", "tvcs", "manifold", "comrade")
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}
FETCHED = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload"}


def _script(path: str) -> ModuleType:
    """A script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / "docs" / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Page(HTMLParser):
    """What the tests look at in a page: anchors, links, navigation, and what a browser would fetch."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.navigation: list[str] = []
        self.fetched: list[str] = []
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.anchors |= {given[key] for key in ("id", "name") if key in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
            if {"md-nav__link", "md-tabs__link"} & set(given.get("class", "").split()):
                self.navigation.append(given["href"])
        if tag == "link" and FETCHED & set(given.get("rel", "").split()):
            self.fetched.append(given["href"])
        if tag in LOADED and LOADED[tag] in given and not given[LOADED[tag]].startswith("data:"):
            self.fetched.append(given[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make site` does; a warning ends the build."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    """All pages but old addresses, and the one for wrong ones, whose links begin at the root of a server."""
    others = {site / "404.html", *(site / old for old in _script("hooks/redirects.py").MOVED)}
    return {path: Page(path) for path in sorted(set(site.rglob("*.html")) - others)}


def test_every_page_is_in_the_navigation(site: Path, pages: dict[Path, Page]) -> None:
    listed = {
        (site / unquote(urlsplit(href).path)).resolve() for href in pages[site / "index.html"].navigation
    }
    assert sorted(set(pages) - listed) == []


def test_every_link_and_anchor_within_the_site_resolves(pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for href in page.links:
            parts = urlsplit(href)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages[target].anchors if target in pages else set()
            if not target.is_file() or (parts.fragment and unquote(parts.fragment) not in known):
                broken.append(f"{path.name}: {href}")
    assert broken == []


def test_old_addresses_lead_to_where_the_page_is(site: Path) -> None:
    for old, new in _script("hooks/redirects.py").MOVED.items():
        (address,) = Page(site / old).links
        assert ((site / old).parent / address).resolve() == (site / new).resolve()


def test_nothing_is_fetched_from_a_network(site: Path, pages: dict[Path, Page]) -> None:
    fetched = {(path.name, address) for path, page in pages.items() for address in page.fetched}
    assert [each for each in fetched if urlsplit(each[1]).scheme not in ("", "data") or "//" in each[1]] == []
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert [
        found for text in styles for found in re.findall(r"(?:url\(|@import)\s*['\"]?(https?:[^)]+)", text)
    ] == []


def test_everything_that_a_page_fetches_is_there(pages: dict[Path, Page]) -> None:
    gone = [
        f"{path.name}: {address}"
        for path, page in pages.items()
        for address in page.fetched
        if not address.startswith("data:") and not (path.parent / unquote(urlsplit(address).path)).is_file()
    ]
    assert gone == []


def test_every_exported_name_is_in_the_reference(site: Path, pages: dict[Path, Page]) -> None:
    anchors = set().union(*(pages[path].anchors for path in (site / "reference").glob("*.html")))
    modules = [optiframe, *(import_module(f"optiframe_{name}") for name in PLUGINS)]
    modules.append(import_module("optiframe.testing"))
    names = [f"{module.__name__}.{name}" for module in modules for name in module.__all__]
    assert [name for name in names if name not in anchors] == []


def test_fields_are_described_in_the_reference(site: Path, pages: dict[Path, Page]) -> None:
    described = pages[site / "reference" / "solving.html"].text
    assert str(optiframe.Budget.model_fields["time"].description) in described


def test_the_gallery_shows_every_figure_that_its_code_saves(site: Path, pages: dict[Path, Page]) -> None:
    code = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    saved = [f"gallery/{name}" for name in re.findall(r'savefig\(\s*"([^"]+)"', code)]
    shown = [address for address in pages[site / "gallery.html"].fetched if address.startswith("gallery/")]
    assert shown == saved
    assert len(saved) == len(re.findall(r"\bsavefig\b", code)) >= len(re.findall(r"^## ", code, re.MULTILINE))


def test_a_section_of_the_gallery_without_a_picture_ends_the_build() -> None:
    gallery = _script("hooks/gallery.py")
    page = '# G\n\n## One\n\n```python\nplot().savefig(\n    "a-b.svg"\n)\n```\n'
    gallery.check(page)
    with pytest.raises(PluginError, match="no picture below 'Two'"):
        gallery.check(page + "\n## Two\n\nWords.\n")
    with pytest.raises(PluginError, match="savefig with other than one name"):
        gallery.check(page + "\n```python\nplot().savefig(name)\n```\n")


def test_formulas_become_mathml(pages: dict[Path, Page]) -> None:
    drawn = [page for path, page in pages.items() if path.parent.name == "methods" and "<math" in page.text]
    assert drawn
    assert not [path for path, page in pages.items() if 'class="arithmatex"' in page.text]


def test_bars_of_a_norm_are_as_tall_as_what_they_hold() -> None:
    drawn = _script("hooks/mathematics.py").drawn
    page = drawn(r'<p><span class="arithmatex">\(\frac{1}{2} \lVert w \rVert\)</span></p>', "here.md")
    assert page.count('<mo stretchy="false">&#x02016;</mo>') == 2


@pytest.mark.parametrize("formula", [r"\frac{1", r"\unheard{x}", r"\begin{aligned} x & y \end{aligned}"])
def test_a_formula_that_cannot_be_converted_ends_the_build(formula: str) -> None:
    drawn = _script("hooks/mathematics.py").drawn
    with pytest.raises(PluginError, match=r"here\.md.*formula"):
        drawn(rf'<p><span class="arithmatex">\({formula}\)</span></p>', "here.md")


def test_notebooks_are_pages_with_what_their_cells_give(pages: dict[Path, Page]) -> None:
    """The build has executed them: a cell that raises ends it."""
    notebooks = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
    assert notebooks
    for notebook in notebooks:
        kept = json.loads(notebook.read_text(encoding="utf-8"))
        assert not [cell for cell in kept["cells"] if cell.get("outputs")], "kept without outputs"
        (text,) = (
            page.text
            for path, page in pages.items()
            if path.stem == notebook.stem and "notebooks" in path.parts
        )
        assert "data-cell" not in text
        assert '<div class="output"><' in text


@pytest.mark.parametrize(
    ("width", "every"), [(390, 3), (1366, 8), pytest.param(390, 1, marks=pytest.mark.thorough)]
)
def test_no_page_is_wider_than_the_window(
    width: int, every: int, pages: dict[Path, Page], browser: Browser
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, offline=True)
    opened = context.new_page()
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    wide = []
    # Some pages stand for all, at the width of a desktop fewer: what is too wide there is so on a phone.
    for path in list(pages)[::every]:
        opened.goto(path.as_uri(), wait_until="domcontentloaded")
        if opened.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            wide.append(path.name)
    context.close()
    assert wide == []
    assert [address for address in asked if not address.startswith(("file:", "data:"))] == []


def test_the_figure_of_the_readme_is_what_its_script_draws(data_folder: Path) -> None:
    script = _script("figures/readme.py")
    kept, again = script.TARGET.read_text(encoding="utf-8"), script.drawn()
    number = re.compile(r"\d+\.\d+")
    assert number.sub("", kept) == number.sub("", again)
    # Within a task or so of 800: sums are rounded otherwise on other machines.
    pairs = zip(number.findall(kept), number.findall(again), strict=True)
    assert max(abs(float(a) - float(b)) for a, b in pairs) < 2.0


def test_links_that_leave_the_docs_lead_to_their_page_or_end_the_build() -> None:
    rewritten = _script("hooks/links.py").rewritten
    assert (
        rewritten("[a](../../README.md#x) [b](../compare.md)", "methods/a.md")
        == "[a](../index.md) [b](../compare.md)"
    )
    assert rewritten("[a](../CHANGELOG.md#0-1)", "start.md") == "[a](changelog.md#0-1)"
    with pytest.raises(PluginError, match=r"start\.md links to \.\./Makefile"):
        rewritten("[a](../Makefile)", "start.md")


def test_a_page_of_the_papers_that_is_older_than_its_item_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = _script("hooks/papers.py")
    monkeypatch.setattr(papers, "_ROOT", tmp_path)
    sources, pages = tmp_path / "examples" / "papers" / "tvcs", tmp_path / "docs" / "papers" / "tvcs"
    sources.mkdir(parents=True)
    pages.mkdir(parents=True)
    for name in ("figure_2", "table_1"):
        (sources / f"{name}.toml").write_text(name, encoding="utf-8")
        (sources / f"{name}.py").touch()
        origin = {"files": papers.digest(sources / f"{name}.toml")}
        (pages / f"{name}.json").write_text(json.dumps({"origin": origin}), encoding="utf-8")

    def shown(address: str) -> str:
        page = SimpleNamespace(file=SimpleNamespace(src_uri=address))
        return str(papers.on_page_markdown("# A\n\nLines.\n", page=page))

    assert not papers.outdated("tvcs/figure_2")
    assert shown("papers/tvcs/figure_2.md") == shown("start.md") == "# A\n\nLines.\n"
    (sources / "figure_2.py").write_text("changed", encoding="utf-8")
    assert shown("papers/tvcs/figure_2.md").startswith('# A\n\n!!! warning "Older than its item\'s files"')
    assert not papers.outdated("tvcs/table_1")
    (sources / "shared.py").touch()  # a module that the items share is a file of each
    (sources / "shared.py").write_text("changed", encoding="utf-8")
    assert papers.outdated("tvcs/table_1")


def test_the_site_and_the_harness_compute_the_same_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "examples" / "papers")
    origin, papers = import_module("harness.origin"), _script("hooks/papers.py")
    for file in sorted((ROOT / "examples" / "papers").glob("*/*.toml")):
        assert origin.digest(file) == papers.digest(file)
    for name in [name for name in sys.modules if name.partition(".")[0] == "harness"]:
        del sys.modules[name]


def test_the_install_page_lists_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs" / "howto" / "install.md").read_text(encoding="utf-8")
    assert [extra for extra in project["optional-dependencies"] if f"| `{extra}` |" not in page] == []
