"""Makes a git repository of brotli's library with a command line: a program that no learner was tuned on.

The sources come out of a Python source distribution, through pip's own client, pinned by SHA-256.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))

import making  # type: ignore[import-not-found]  # noqa: E402  beside the examples; this is a script

sys.path.remove(str(EXAMPLES))  # folders there have names of packages

DISTRIBUTION = "Brotli==1.1.0"
SHA256 = "81de08ac11bcb85841e440c13611c00b67d3bf82698314928d0b676362546724"
TEXT = "program/bench/make-text.sh"
"""The text is that of the example lz4, but shorter: the slow qualities are counted, too."""


def make(directory: Path) -> list[tuple[str, str]]:
    """Builds the repository; (tag, commit id).

    Raises:
        ExampleError: the directory is something else, or the source distribution cannot be had.
    """
    wanted = ("c/common/", "c/dec/", "c/enc/", "c/include/", "LICENSE")
    files = {path: content for path, content in making.files_of(archive()) if path.startswith(wanted)}
    text = (EXAMPLES / "lz4" / TEXT).read_bytes().replace(b"bytes=8000000", b"bytes=400000")
    files["bench/make-text.sh"] = text
    making.begin(directory)
    return [making.commit(directory, "1.1.0", files | making.own_files(HERE), message="brotli 1.1.0")]


def archive() -> Path:
    """The source distribution. Pip asks it for its name, and fetches what it needs to answer."""
    with tempfile.TemporaryDirectory() as name:

        def fetch() -> Path:
            wanted = Path(name, "wanted.txt")
            wanted.write_text(f"{DISTRIBUTION} --hash=sha256:{SHA256}", encoding="utf-8")
            words = ["download", "--quiet", "--no-input", "--no-deps", "--no-binary", "Brotli"]
            words += ["--require-hashes", "--dest", name, "--requirement", str(wanted)]
            making.run([sys.executable, "-m", "pip", *words], what=DISTRIBUTION)
            return next(Path(name).glob("*.tar.gz"))

        kept: Path = making.fetched("Brotli-1.1.0.tar.gz", SHA256, fetch)
        return kept


if __name__ == "__main__":
    sys.exit(making.answer(make, purpose=(__doc__ or "").splitlines()[0]))
