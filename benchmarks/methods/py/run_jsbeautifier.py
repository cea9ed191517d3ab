"""jsbeautifier on a script."""

import sys

import jsbeautifier

if __name__ == "__main__":
    options = jsbeautifier.default_options()
    options.space_in_paren = "--space-in-paren" in sys.argv
    with open(sys.argv[1], encoding="utf-8") as file:
        print(len(jsbeautifier.beautify(file.read(), options)))
