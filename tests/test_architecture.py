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


# ---- The order of the rooms ------------------------------------------------------------------------------------------

ROOMS = [  # each imports from those before it only
    ["analysis", "analysis.errors", "analysis.settings", "analysis.progress", "analysis.output"],
    ["analysis.data"],
    ["analysis.models"],
    ["analysis.compute"],
    ["analysis.results"],
    ["analysis.options", "analysis.shared_settings"],
    ["analysis.method"],
    ["analysis.relations"],
    ["analysis.methods"],
    ["analysis.prompt"],
    ["analysis.jobs"],
    ["analysis.evidence"],
    ["analysis.listings"],
    ["analysis.cli"],
    ["analysis.gallery", "analysis.__main__"],
]
UPWARD = {  # what imports from a later room all the same, and why
    ("analysis.data.prompts", "analysis.models.vocabulary"): "prompts are made of a model's tokens",
    ("analysis.data.relation_prompts", "analysis.models.vocabulary"): "prompts are made of a model's tokens",
    ("analysis.methods", "analysis.jobs.request"): "a method that is registered late must fit into requests",
}


def room_of(module):
    """The number of the room that a module is in."""
    for number, places in enumerate(ROOMS):
        if module in places or any(module.startswith(f"{place}.") for place in places if place != "analysis"):
            return number
    raise AssertionError(f"{module} is in no room")


def upward_imports(source, module):
    """(importing, imported) for every import from a later room, within functions and for types too."""
    known = set(modules("analysis")) | {"analysis.__main__"}
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in known else node.module for name in full]
        for name in names:
            if name.split(".")[0] == "analysis" and room_of(name) > room_of(module):
                yield module, name


def test_rooms_import_in_one_direction():
    """No room imports from a later one, not even inside a function, but for what is declared with a reason."""
    found = set()
    for path in (ROOT / "analysis").rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found |= set(upward_imports(path.read_text(), module))
    assert found == set(UPWARD)


@pytest.mark.parametrize(
    "source",
    [
        "from analysis.jobs.engine import Engine",
        "import analysis.jobs.engine",
        "from analysis import methods",
        "def later():\n    from analysis.evidence import catalogue",
        "if TYPE_CHECKING:\n    from analysis.method import Method",
    ],
)
def test_an_import_from_a_later_room_is_found(source):
    """At the top, in a function, for types; of a module or of a name in it."""
    assert list(upward_imports(source, "analysis.results.planted"))
    assert not list(upward_imports("from analysis.models.card import ModelCard", "analysis.results.planted"))


# ---- Nothing knows a method or a map by its name but its own package -------------------------------------------------

NAMES = {each.name for each in (*METHODS, *MAPS)}
LISTS = {"analysis/methods/__init__.py": "analysis.methods", "dashboard/maps/__init__.py": "dashboard.maps"}
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")  # of text, snake_case and CamelCase

# Where a word that is also a name stands for something else: a whole string or identifier, or a phrase of a text.
# An import of the package is found all the same.
OTHER_MEANINGS = {
    "of any two methods' labels": {
        "analysis/cli.py": ["_add_agreement", "_agreement", "agreement", "agreement_lines"],
        "analysis/evidence/agreement.py": ["Agreement", "agreement", "agreement_lines"],
        "dashboard/web/findings.py": ["/agreement", "agreement"],
    },
    "the model that runs, in texts": {
        "analysis/compute/layered/activations.py": ["running the model", "the running model's activations"],
        "analysis/evidence/comparison.py": ["in the running model"],
        "analysis/evidence/relation_tools.py": ["in the running model"],
        "analysis/methods/ablation/settings.py": ["the running model's scores"],
        "analysis/methods/behaviour/compute/runs.py": ["running the model"],
        "dashboard/maps/function/controls.py": ["in the running model"],
        "dashboard/maps/function/map.py": ["in the running model"],
    },
    "a value of one request, as Python calls it": {
        "analysis/evidence/catalogue.py": ["ContextVar"],
    },
    "a class of transformers": {
        "analysis/compute/loaded_model.py": ["AutoModelForCausalLM"],
        "analysis/models/gguf.py": ["AutoModelForCausalLM"],
    },
    "of subject and verb": {
        "analysis/data/questions.py": ["_agreement"],
    },
    "what a head is that matters, by whichever method": {
        "analysis/evidence/agreement.py": ["causal", "causal but unlabelled", "is_causal", "labelled and causal"],
        "dashboard/maps/agreement/card.py": ["a head is causal at"],
        "dashboard/maps/agreement/map.py": ["A head is causal when", "Causal in"],
        "dashboard/maps/agreement/words.py": ["causal"],
    },
    "a score that is still being computed": {
        "analysis/evidence/catalogue.py": ["RUNNING", "running"],
        "analysis/results/scores.py": ["RUNNING"],
    },
    "of two results about relations": {
        "analysis/evidence/comparison.py": ["agreement"],
        "analysis/relations/agreement.py": ["RelationAgreement", "agreement"],
        "analysis/relations/judging.py": ["RelationAgreement", "agreement"],
        "dashboard/maps/function/basis.py": ["RelationAgreement", "agreement"],
        "dashboard/maps/function/comparison.py": ["RelationAgreement", "agreement"],
        "dashboard/maps/function/legend.py": ["agreement"],
    },
    "a job's state": {
        "analysis/jobs/cluster.py": ["running", "running_keys"],
        "analysis/jobs/engine.py": ["running", "the engine is not running"],
        "analysis/jobs/job.py": ["running"],
        "dashboard/page/workshop.py": ["Running", "running"],
    },
    "what a model does, in a help text": {
        "analysis/methods/causal/method.py": ["one behaviour needs"],
    },
    "a fit that is not finished": {
        "analysis/methods/causal/method.py": ["RUNNING", "running"],
        "analysis/methods/causal/plan.py": ["_running", "running"],
        "dashboard/maps/causal/gates.py": ["RUNNING", "is_running"],
        "dashboard/maps/causal/ranking.py": ["running"],
        "dashboard/maps/causal/sections.py": ["is_running"],
        "dashboard/maps/causal/validation.py": ["running"],
        "dashboard/maps/causal/words.py": ["is_running"],
    },
    "of two fits of one task": {
        "analysis/methods/causal/plan.py": ["_agreement", "agreement"],
        "analysis/methods/causal/report.py": ["agreement"],
        "analysis/methods/causal/result.py": ["agreement"],
        "dashboard/maps/causal/evidence.py": ["agreement"],
        "dashboard/maps/causal/sections.py": ["agreement"],
        "dashboard/maps/causal/tasks.py": ["_agreement", "agreement"],
    },
    "the title under which the function map offers it": {
        "analysis/methods/context/method.py": ["Function map, with context"],
        "analysis/methods/running/method.py": ["Function map, running model"],
    },
    "a key of config.json": {
        "analysis/models/checkpoint.py": ["activation_function"],
    },
    "keys of GGUF files": {
        "analysis/models/gguf.py": ["context_length"],
        "analysis/models/gguf_rope.py": ["context_length", "rope.scaling.original_context_length"],
    },
    "of one head in one prompt": {
        "analysis/prompt/question.py": ["AblationStep", "PromptAblation", "ablation"],
        "analysis/prompt/reading.py": ["PromptAblation", "ablation"],
        "dashboard/web/api.py": ["PromptAblation", "ablation"],
    },
    "Python's own": {
        "dashboard/cache.py": ["function"],
    },
    "a mean over neighbours": {
        "dashboard/maps/causal/sections.py": ["A running mean"],
    },
    "a class of Dash": {
        "dashboard/page/callbacks.py": ["ClientsideFunction"],
    },
    "asyncio's": {
        "dashboard/web/bodies.py": ["get_running_loop"],
        "dashboard/web/logins.py": ["get_running_loop"],
    },
}


def product_modules():
    """All Python files of the product."""
    return [*(ROOT / "analysis").rglob("*.py"), *(ROOT / "dashboard").rglob("*.py"), ROOT / "app.py"]


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


def docstrings_in(tree):
    """The nodes of a module's docstrings."""
    for node in ast.walk(tree):
        for statement in node.body if isinstance(getattr(node, "body", None), list) else []:
            if isinstance(statement, ast.Expr):
                yield statement.value


def texts_in(tree):
    """All strings and identifiers of a module but its docstrings and the modules that it imports from."""
    docstrings = set(docstrings_in(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node in docstrings:
            continue
        for field, value in ast.iter_fields(node):
            if isinstance(node, ast.ImportFrom) and field == "module":
                continue  # `is_forbidden` judges what it is
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, bytes):
                    yield text.decode("latin-1")
                if isinstance(text, str):
                    yield text


def names_among(text):
    """The names of methods and maps among the words of a text."""
    return {word.lower() for word in WORD.findall(text)} & NAMES


def imports_in(tree, place):
    """(module, name) of everything that is imported, relative imports resolved; the name is empty for whole modules."""
    folder = place.split("/")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            parents = folder[: len(folder) - node.level + 1] if node.level else []
            module = ".".join([*parents, *([node.module] if node.module else [])])
            yield from ((module, alias.name) for alias in node.names)


def is_forbidden(module, name, place):
    """Whether an import reaches into another method's or map's package, or takes one of them from the list."""
    for file, package in LISTS.items():
        if module == package:
            return bool(name) and name not in offered_by(file)
        inside = module.removeprefix(f"{package}.").split(".")[0]
        if module.startswith(f"{package}.") and inside in NAMES:
            return not is_own(place, inside)
    return False


def is_own(place, name):
    """Whether the importing module belongs to the method or the map of that name."""
    return place.startswith((f"analysis/methods/{name}/", f"dashboard/maps/{name}/"))


def offered_by(file):
    """What a list's module offers: its functions, the list itself, the base type and the general modules beside it."""
    defined = {node.name for node in ast.parse((ROOT / file).read_text()).body if isinstance(node, ast.FunctionDef)}
    beside = {path.stem for path in (ROOT / file).parent.glob("*.py")}
    return defined | beside | {"METHODS", "MAPS", "Method", "Map"}


def named_in(source, place):
    """(word, where it stands) for every method or map that a module names although it is not its own."""
    if place in LISTS:
        return
    tree = ast.parse(source)
    for module, name in imports_in(tree, place):
        if is_forbidden(module, name, place):
            yield "import", f"{module} {name}"
    for text in texts_in(tree):
        for word in names_among(text):
            if not is_own(place, word):
                yield word, text


def exemptions():
    """(file, text) of the table, one by one."""
    for places in OTHER_MEANINGS.values():
        for place, texts in places.items():
            yield from ((place, text) for text in texts)


def explaining(place, word, text):
    """The exemptions that account for a word in a text of a file; none where it also stands beside their phrases."""
    used, rest = set(), text
    for file, exempted in exemptions():
        is_meant = file == place and (exempted == text or (" " in exempted and exempted in text))
        if is_meant and word in names_among(exempted):
            used.add((file, exempted))
            rest = rest.replace(exempted, "")
    return used if word not in names_among(rest) else set()


def test_no_module_names_a_method_or_map_but_its_own_package():
    """Neither as a word of a string or identifier nor as an import, and no exemption is left that nothing needs."""
    named, needed = [], set()
    for path in product_modules():
        place = str(path.relative_to(ROOT))
        for word, text in named_in(path.read_text(), place):
            used = explaining(place, word, text)
            if not used:
                named.append((place, word, text))
            needed |= used
    assert named == []
    assert set(exemptions()) - needed == set()


def test_an_exemption_holds_for_its_text_in_its_file_only():
    """Another text of the file, another file, and the same word once more beside an exempted phrase are found."""
    place = "analysis/jobs/engine.py"
    assert explaining(place, "running", "running")
    assert explaining(place, "running", "because the engine is not running")
    assert not explaining(place, "running", "the running map")
    assert not explaining("analysis/jobs/lease.py", "running", "running")
    assert not explaining(place, "running", "the engine is not running the running map")


@pytest.mark.parametrize(
    "source",
    [
        'view == "running"',
        'view = "view=causal"',
        'words = f"causal {y}"',
        'key = "result/causal/"',
        'key = b"causal"',
        'title = "The Function map"',
        'if "is_causal" in names: ...',
        "m.is_causal",
        "MAPS.CausalMap",
        "def causal(): ...",
        "class SalienceThing: ...",
        "plan(ablation=3)",
        "def plan(ablation): ...",
        "CAUSAL_ITEMS = 3",
        "global running",
        "match m:\n    case Thing(behaviour=1): ...",
        "import analysis.methods.running.plan",
        "import analysis.methods.running as plain",
        "from analysis.methods import CausalMethod",
        "from analysis.methods import Sequence",
        "from dashboard.maps import FunctionMap as First",
        "from dashboard.maps.agreement import words",
    ],
)
def test_a_name_is_found_wherever_it_is_planted(source):
    """As a string, a part of one, an identifier, an argument, an import, in every way of writing it."""
    assert list(named_in(source, "dashboard/page/planted.py"))


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("from .running import plan", "analysis/methods/planted.py"),
        ("from . import running", "analysis/methods/planted.py"),
        ("from ..causal.map import CausalMap", "dashboard/maps/planted/map.py"),
        ("from ..maps.causal import numbers", "dashboard/page/planted.py"),
        ("from analysis.methods.running import plan", "analysis/jobs/engine.py"),
    ],
)
def test_an_import_is_found_under_its_full_name(source, place):
    """Relative imports are resolved, and a file in which the word means something else may not import the package."""
    assert "import" in [word for word, _ in named_in(source, place)]


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ('"""The causal map."""', "dashboard/view.py"),
        ('def plan():\n    """Of the causal map."""', "dashboard/view.py"),
        ("# causal", "dashboard/view.py"),
        ('words = "functional causes"', "dashboard/view.py"),
        ("from analysis.methods import METHODS, method, names", "dashboard/view.py"),
        ("from .plan import CausalPlan", "analysis/methods/causal/method.py"),
        ("from analysis.methods.causal import plan", "dashboard/maps/causal/map.py"),
    ],
)
def test_other_words_and_the_package_itself_are_not_found(source, place):
    """Docstrings, comments, words that only begin alike, the lists' functions, and a method's own modules."""
    assert list(named_in(source, place)) == []


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
    for path in product_modules():
        for name in types_in(path.read_text()):
            places.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert len(places) > 200
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_classes_and_aliases_are_found_as_types():
    """Public and private ones, but neither constants nor variables."""
    source = "class _Entry: ...\nPair = tuple[str, str]\nLIMIT = 3\n_log = None\nKept: type = int"
    assert list(types_in(source)) == ["Entry", "Pair", "Kept"]


# ---- One writer of addresses -----------------------------------------------------------------------------------------

QUERY = re.compile(r"\?[a-z_]+=|&[a-z_]+=$|^/[^\s?]*\?$|[\w/\0]\?\0")  # \0: where a template goes on


def written_texts(tree):
    """The strings of a Python module but its docstrings; \0 stands for what is put into a template."""
    docstrings, inside = set(docstrings_in(tree)), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside |= set(node.values)
            yield "".join(part.value if isinstance(part, ast.Constant) else "\0" for part in node.values)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings | inside:
            yield node.value


def writes_query(texts):
    """Those texts that are a query string, or the beginning of one."""
    return [text for text in texts if QUERY.search(text)]


def test_one_module_writes_query_strings():
    """Nothing else puts one together by hand; tests/scripts/architecture.test.mjs says the same of the browser."""
    for path in [*(ROOT / "analysis").rglob("*.py"), *(ROOT / "dashboard").rglob("*.py")]:
        if path != ROOT / "dashboard" / "query.py":
            assert not {"urllib.parse.urlencode", "urllib.parse.parse_qsl"} & set(names_in(path)), path
            assert writes_query(written_texts(ast.parse(path.read_text()))) == [], path


@pytest.mark.parametrize(
    "source", ['f"/?view={x}"', '"/?view=models"', '"<a href=\\"/?view=models\\">"', '"/head?"', 'f"{x}?{y}"', '"&a="']
)
def test_a_query_string_by_hand_is_found(source):
    """In a template, in a constant, in a piece of a page, where the rest is joined to it; not a question."""
    assert writes_query(written_texts(ast.parse(f"address = {source}")))
    assert not writes_query(written_texts(ast.parse('words = "Which model? Type its name."')))
