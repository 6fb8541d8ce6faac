"""The rules of the house that a script can check: who imports what, and that every test says what it proves."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.methods import METHODS
from dashboard.maps import MAPS
from dashboard.palette import colours
from dashboard.setting import settings_of

ROOT = Path(__file__).parent.parent


def modules(package):
    """The dotted names of a package's modules, but for the one that runs when it is imported."""
    paths = [path for path in sorted((ROOT / package).rglob("*.py")) if path.stem != "__main__"]
    return [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths]


def loaded_by(code):
    script = f"import sys\n{code}\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(result.stdout.split())


def test_torch_is_loaded_in_places_called_compute_only():
    """Everything else of the analysis together, in a fresh process, loads none of the heavy libraries."""
    light = [name for name in modules("analysis") if "compute" not in name.split(".")]
    assert len(light) > 30
    assert loaded_by("import " + ", ".join(light)) & {"torch", "transformers", "dash", "plotly"} == set()


def test_the_dashboard_loads_no_torch():
    """All of its modules together, in a fresh process."""
    assert loaded_by("import " + ", ".join(modules("dashboard"))) & {"torch", "transformers"} == set()


def test_the_web_process_loads_no_torch():
    """`app.py` with everything it serves, in a fresh process."""
    code = (
        "import app; from pathlib import Path; import tempfile\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    store = app.Store(Path(folder)); engine = app.Engine(store)\n"
        "    app.create_app(app.Catalogue(store, engine), engine, app.Access(local=True))"
    )
    assert loaded_by(code) & {"torch", "transformers"} == set()


def test_opening_a_checkpoint_and_finding_words_needs_no_torch(tiny_folder):
    """What the web process does with a model: its card and its tokens."""
    code = (
        "from pathlib import Path\n"
        "from analysis.models.checkpoint import Checkpoint\n"
        "from analysis.models.vocabulary import Vocabulary\n"
        f"folder = Path({str(tiny_folder)!r}); Checkpoint.open(folder); Vocabulary.open(folder).single(['w1'])"
    )
    assert "torch" not in loaded_by(code)


def test_analysis_never_imports_the_dashboard():
    """Dependencies point one way."""
    for path in (ROOT / "analysis").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = (
                [a.name for a in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", "") or ""]
            )
            for name in names:
                assert name.split(".")[0] not in {"dash", "plotly", "dashboard"}, path


def test_every_test_has_a_sentence():
    """The docstring of each test function states in a sentence what it proves."""
    silent = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            is_test = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
            if is_test and not _is_sentence(ast.get_docstring(node)):
                silent.append(f"{path.relative_to(ROOT)}: {node.name}")
    assert silent == []


def _is_sentence(docstring):
    """One paragraph of more than a word that ends as sentences do."""
    return docstring is not None and " " in docstring and "\n\n" not in docstring and docstring.endswith(".")


@pytest.mark.parametrize("docstring", [None, "", "Works.", "It works", "It works.\n\nMore of it."])
def test_what_is_no_sentence_is_found(docstring):
    """Nothing, one word, no full stop and an essay are not the sentence of a test."""
    assert not _is_sentence(docstring)
    assert _is_sentence("It works.")


# ---- Nothing knows a method or a map by its name but its own package -------------------------------------------------

LISTS = {"analysis/methods/__init__.py", "dashboard/maps/__init__.py"}
OTHER_MEANINGS = {
    ("dashboard/maps/columns.py", "function"),  # AG Grid's word for a formatter
    ("dashboard/maps/agreement/words.py", "causal"),  # what a head is that matters, by whichever method
}
NAMES = sorted({each.name for each in (*METHODS, *MAPS)})
WORDS = {"running", "agreement"}  # a job's state, a comparison by the command line: of these only imports are looked at


def names_in(path):
    """The strings of a module, and the packages it imports from."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_module_names_a_method_or_map_but_its_own_package():
    """Neither as a string nor as an import: a new kind of evidence is a package and a line of a list."""
    named = []
    for path in [*(ROOT / "analysis").rglob("*.py"), *(ROOT / "dashboard").rglob("*.py"), ROOT / "app.py"]:
        place = str(path.relative_to(ROOT))
        for known in NAMES:
            own = (f"analysis/methods/{known}/", f"dashboard/maps/{known}/")
            if place in LISTS or place.startswith(own):
                continue
            packages = (f"analysis.methods.{known}", f"dashboard.maps.{known}")
            for name in names_in(path):
                imported = any(name == package or name.startswith(f"{package}.") for package in packages)
                said = name.split("/")[0] == known and known not in WORDS  # "name/…": the key of a number
                if (said or imported) and (place, name) not in OTHER_MEANINGS:
                    named.append((place, name))
    assert named == []


def test_no_script_names_a_method_or_map():
    """What the browser shows of a map, it is told."""
    words = re.compile(rf"[\"'`]({'|'.join(sorted(set(NAMES) - WORDS))})[\"'`]")
    for path in (ROOT / "assets" / "atlas").glob("*.mjs"):
        source = re.sub(r"typeof [^;)]+? [=!]== \"function\"", "", path.read_text())
        assert not words.search(source), path.name


def test_no_general_script_reads_a_maps_settings_or_has_its_colours():
    """A map's rules are in assets/atlas/maps, so that a new one changes no script outside it."""
    keys = {key for each in MAPS for key in settings_of(each.part)}
    tones = {tone for each in MAPS for tone in each.tones(colours("okabe-ito", dark=False))}
    settings = re.compile(rf"\b(?:state|values)\.({'|'.join(sorted(keys))})\b")
    names = re.compile(rf"[\"'`]({'|'.join(sorted(tones))})[\"'`]")
    general = [*(ROOT / "assets" / "atlas").glob("*.mjs"), ROOT / "assets" / "atlas" / "maps" / "palette.mjs"]
    assert len(keys) > 10
    assert len(tones) > 10
    for path in general:
        source = path.read_text()
        assert settings.findall(source) == [], path.name
        assert names.findall(source) == [], path.name


def test_the_general_palette_has_scales_only():
    """What a colour stands for is said in the package of the map that uses it."""
    tones = {tone for each in MAPS for tone in each.tones(colours("okabe-ito", dark=False))}
    for place in ("dashboard/palette.py", "dashboard/maps/look.py", "dashboard/maps/plain.py"):
        assert not tones & set(names_in(ROOT / place)), place


# ---- One thing for every name ----------------------------------------------------------------------------------------


def types_in(source):
    """The names of a module's classes and type aliases, without leading underscores."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name.lstrip("_")
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = [target.id.lstrip("_") for target in targets if isinstance(target, ast.Name)]
        yield from (name for name in names if name[:1].isupper() and not name.isupper())


def test_no_two_modules_define_a_type_of_the_same_name():
    """A class or type alias that two modules want is defined once for both, or has a longer name in each."""
    places = {}
    for path in [*(ROOT / "analysis").rglob("*.py"), *(ROOT / "dashboard").rglob("*.py"), ROOT / "app.py"]:
        for name in types_in(path.read_text()):
            places.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert len(places) > 200
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_classes_and_aliases_are_found_as_types():
    """Public and private ones, but neither constants nor variables."""
    source = "class _Entry: ...\nPair = tuple[str, str]\nLIMIT = 3\n_log = None\nKept: type = int"
    assert list(types_in(source)) == ["Entry", "Pair", "Kept"]


# ---- One writer of addresses -----------------------------------------------------------------------------------------

QUERY = re.compile(r"\?[a-z_]+=|&[a-z_]+=$")


def test_one_module_writes_query_strings():
    """Neither side puts one together by hand: Python has dashboard/query.py, the browser query.mjs."""
    for path in [*(ROOT / "analysis").rglob("*.py"), *(ROOT / "dashboard").rglob("*.py")]:
        if path == ROOT / "dashboard" / "query.py":
            continue
        assert not {"urllib.parse.urlencode", "urllib.parse.parse_qsl"} & set(names_in(path)), path
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.JoinedStr):
                said = [part.value for part in node.values if isinstance(part, ast.Constant)]
                assert not any(QUERY.search(text) for text in said), path
    for path in (ROOT / "assets" / "atlas").rglob("*.mjs"):
        if path.name == "query.mjs":
            continue
        source = path.read_text()
        assert "encodeURIComponent" not in source, path.name
        assert "new URLSearchParams({" not in source, path.name
        assert not re.search(r"`[^`]*\?[a-z_]+=\$\{", source), path.name


def test_one_script_writes_heads_names():
    """As they are written on the server: L, the layer, H, the head."""
    written = re.compile(r"`L\$\{[^}]+\}H\$\{")
    paths = (ROOT / "assets" / "atlas").rglob("*.mjs")
    assert [path.name for path in paths if written.search(path.read_text())] == ["heads.mjs"]
