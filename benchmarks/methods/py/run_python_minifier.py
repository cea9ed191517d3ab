"""python-minifier on a module."""

import sys

import python_minifier

if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(len(python_minifier.minify(file.read(), rename_globals="--rename-globals" in sys.argv)))
