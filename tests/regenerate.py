"""Writes the modules' own sentences into docs/architecture.md: python -m tests.regenerate."""

from tests.test_house import BOT, ROOT, first_sentence, place

MARK = "<!-- below: python -m tests.regenerate -->\n"
ORDER = ("", "commands", "compose", "flows", "sampling", "analysis", "report", "adapters", "model")


def modules() -> str:
    """A table for each folder, in the order of the layers."""
    folders: dict[str, list[str]] = {}
    for path in BOT:
        folder = "/".join(place(path).split("/")[:-1])
        lines = folders.setdefault(folder, [])
        if path.name != "__init__.py":
            lines.append(f"| `{place(path)}` | {first_sentence(path)} |")
    ranked = sorted(folders, key=lambda f: (ORDER.index(f.split("/")[0]), f))
    parts = []
    for folder in ranked:
        said = first_sentence(ROOT / "bot" / folder / "__init__.py")
        parts.append("\n".join([f"### bot/{folder}".rstrip("/"), "", said, "", "| module | |", "|---|---|"]))
        parts[-1] += "\n" + "\n".join(folders[folder]) + "\n"
    return "\n".join(parts)


if __name__ == "__main__":
    page = ROOT / "docs/architecture.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.partition(MARK)[0] + MARK + "\n" + modules(), encoding="utf-8")
