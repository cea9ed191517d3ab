"""Python programs: of a project's sources, or of the folder of an unpacked wheel."""

from __future__ import annotations

import re
from pathlib import Path

from bot.adapters.builds.recipes import Recipe, at, read, toml

_HINT = "Compiled as by pip. What it imports from elsewhere is installed by `setup`, for all users."
_SCRIPT = r"[\w.-]+\s*=\s*([\w.]+)\s*:\s*([\w.]+)"


def python_project(root: Path) -> Recipe | None:
    """By `pyproject.toml`; None: it names no program."""
    project = toml(root / "pyproject.toml")
    scripts = at(project, "project", "scripts") or at(project, "tool", "poetry", "scripts")
    target = next(iter(scripts.values()), None) if isinstance(scripts, dict) else None
    match = re.fullmatch(r"([\w.]+):([\w.]+)", target) if isinstance(target, str) else None
    return _imported(root, *match.groups()) if match else None


def setuptools_project(root: Path) -> Recipe | None:
    """By `setup.cfg` or `setup.py`; None: they name no program."""
    text = read(root / "setup.cfg") + read(root / "setup.py")
    match = re.search(r"console_scripts\W{1,80}[\w.-]+\s*=\s*([\w.]+):([\w.]+)", text)
    return _imported(root, *match.groups()) if match else None


def _imported(root: Path, module: str, function: str) -> Recipe:
    """A Python program by its entry point."""
    top = module.partition(".")[0]
    source = "src" if (root / "src" / top).is_dir() or (root / f"src/{top}.py").is_file() else "."
    imported = function.partition(".")[0]
    run = f'python3 -c "import sys; from {module} import {imported}; sys.exit({function}())"'
    for package in (module, top):
        if (root / source / package.replace(".", "/") / "__main__.py").is_file():
            run = f"python3 -m {package}"
            break
    # Trials cannot keep the bytecode that they compile: the larger part of what a short one would measure.
    code = next((name for name in (top, f"{top}.py") if (root / source / name).exists()), None)
    code = code if code is None or source == "." else f"{source}/{code}"
    return Recipe(
        "Python",
        runtime="python",
        build=f"python3 -m compileall -q {code}" if code else "",
        run=run,
        env={} if source == "." else {"PYTHONPATH": source},
        hint=_HINT,
    )


def unpacked_wheel(root: Path) -> Recipe | None:
    """By the `.dist-info` of a wheel, whose modules lie as they are installed; None: there is none."""
    for info in sorted(root.glob("*.dist-info")):
        if not read(info / "METADATA"):
            continue
        _, scripts, after = read(info / "entry_points.txt").partition("[console_scripts]")
        match = re.search(rf"^{_SCRIPT}", after.partition("\n[")[0] if scripts else "", re.MULTILINE)
        if match:
            return _imported(root, *match.groups())
        tops = [path.parent.name for path in sorted(root.glob("*/__main__.py"))]
        tops = [name for name in tops if re.fullmatch(r"[A-Za-z_]\w*", name)]
        build = " ".join(["python3 -m compileall -q", *tops[:1]]) if tops else None
        return Recipe(
            "an unpacked wheel" + ("" if tops else " (which names no program)"),
            runtime="python",
            build=build,
            run=f"python3 -m {tops[0]}" if tops else None,
            hint=_HINT,
        )
    return None
