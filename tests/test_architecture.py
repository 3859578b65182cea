"""What import-linter cannot see: calls that make a pure module impure, sizes and names."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("checks", "proposals", "webhook_app", "sandbox")
MODULES = [
    path
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if path.parent.name != "descriptions"  # how GitHub's descriptions were cut: kept as it ran
]
PURE_PROPOSALS = (
    *(
        "canonical",
        "changes",
        "plan",
        "lifecycle",
        "receipt",
        "succession",
        "trailers",
        "evidence",
        "words",
    ),
    *(
        "backoff",
        "confirm",
        "unasked",
        "turn",
        "drafts",
        "transcript",
        "likeness",
        "encoding",
        "veil",
    ),
)
PURE = [
    path
    for path in MODULES
    if path.parent in (ROOT / "checks", ROOT / "proposals" / "audit")
    or (path.parent == ROOT / "proposals" and path.stem in PURE_PROPOSALS)
]
IMPURE_CALLS = re.compile(
    r"now|utcnow|today|time_ns|monotonic|perf_counter|sleep|uuid[14567]|urandom|getrandbits"
    r"|token_(bytes|hex|urlsafe)|getenv|open|(read|write)_(text|bytes)|connect|socket|system|Popen"
    r"|print|input|exec|eval|__import__"
)
CLOCKS = frozenset({"datetime", "date"})
CLOCK_READS = frozenset({"now", "utcnow", "today"})
NO_NAMES = frozenset({"utils", "util", "helpers", "helper", "base", "common", "misc"})
NO_CLASSES = ("Manager", "Service", "Engine", "Factory")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def impurities(source: str) -> list[str]:
    """Every place where a module would read a clock, a file, a socket or chance, or would wait."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)):
                if IMPURE_CALLS.fullmatch(called):
                    found.append(f"line {node.lineno}: {called}()")
            case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=read):
                if owner in CLOCKS and read in CLOCK_READS:
                    found.append(f"line {node.lineno}: {owner}.{read}")
            case ast.AsyncFunctionDef() | ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                found.append(f"line {node.lineno}: async")
            case _:
                pass
    return found


def class_names(source: str) -> list[str]:
    return [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)]


@pytest.mark.parametrize("path", PURE, ids=name)
def test_a_pure_module_asks_for_nothing(path: Path) -> None:
    assert impurities(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("datetime.now(UTC)", id="clock"),
        pytest.param("field(default_factory=datetime.now)", id="clock-handed-on"),
        pytest.param("dt.datetime.utcnow", id="clock-by-another-name"),
        pytest.param("with open('plan.json') as f: pass", id="file"),
        pytest.param("Path('plan.json').read_text()", id="file-by-path"),
        pytest.param("uuid.uuid4()", id="chance"),
        pytest.param("print('approved')", id="print"),
        pytest.param("os.getenv('PLACET_TOKEN')", id="environment"),
        pytest.param("async def judge(): ...", id="async"),
    ],
)
def test_the_guard_sees(source: str) -> None:
    assert impurities(source)


def test_the_guard_lets_time_in_as_an_argument() -> None:
    source = "def judge(now: datetime) -> bool:\n    return now >= facts.expires_at"
    assert impurities(source) == []


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_fits_on_a_few_screens(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 300


def test_the_gate_is_read_in_one_go() -> None:
    assert len((ROOT / "proposals" / "gate.py").read_text().splitlines()) <= 130


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_is_named_after_one_idea(path: Path) -> None:
    assert NO_NAMES.isdisjoint({path.stem, *path.relative_to(ROOT).parts})


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_class_is_named_after_what_it_is(path: Path) -> None:
    assert [c for c in class_names(path.read_text()) if c.endswith(NO_CLASSES)] == []


def test_import_linter_watches_the_same_pure_modules() -> None:
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    [pure] = [c for c in linter["contracts"] if c["name"] == "the pure core asks for nothing"]
    ours = {f"proposals.{p.stem}" for p in PURE if p.parent.name == "proposals"}
    ours |= {"checks", "proposals.audit"}
    assert set(pure["source_modules"]) == ours, "list it in the contract in pyproject.toml"


def test_there_is_something_to_test() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in PURE} == {"checks", "proposals"}
