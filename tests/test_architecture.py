"""The import fence: the web side must stay small, the analysis side must not know of it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TORCH_FREE = [
    "errors", "heads", "families", "checkpoint", "relations", "tokens", "scores", "provenance", "progress", "store",
    "plan", "sources", "default_model", "report", "cli", "jobs", "engine", "units", "questions", "tasks", "known",
    "fits", "causal", "contrast", "causal_report", "prompts", "shipped",
]  # fmt: skip


def loaded_by(code):
    script = f"import sys\n{code}\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(result.stdout.split())


@pytest.mark.parametrize("module", TORCH_FREE)
def test_torch_free_modules_load_no_torch(module):
    """Each of them alone, in a fresh process."""
    assert loaded_by(f"import analysis.{module}") & {"torch", "transformers", "dash", "plotly"} == set()


def test_the_dashboard_loads_no_torch():
    """All of its modules together, in a fresh process."""
    paths = sorted((ROOT / "dashboard").rglob("*.py"))
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths]
    assert names
    assert loaded_by("import " + ", ".join(names)) & {"torch", "transformers"} == set()


def test_the_web_process_loads_no_torch():
    """`app.py` with everything it serves, in a fresh process."""
    code = (
        "import app; from pathlib import Path; import tempfile\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    store = app.Store(Path(folder)); engine = app.Engine(store)\n"
        "    app.create_app(app.Library(store, engine), engine, app.Access(local=True))"
    )
    assert loaded_by(code) & {"torch", "transformers"} == set()


def test_every_other_module_is_known_to_load_torch():
    """A new module is on one side of the fence or the other, by decision."""
    names = {path.stem for path in (ROOT / "analysis").glob("*.py")} - {"__init__", "__main__"}
    assert names - set(TORCH_FREE) == {"weights", "function_map", "salience", "gated_model", "gates", "causal_work"}


def test_opening_a_checkpoint_and_finding_words_needs_no_torch(tiny_folder):
    """What the web process does with a model: its card and its tokens."""
    code = (
        "from pathlib import Path; from analysis.checkpoint import Checkpoint; from analysis.tokens import Vocabulary\n"
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
