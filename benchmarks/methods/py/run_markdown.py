"""Python-Markdown on a text with all that it knows."""

import sys

import markdown

if __name__ == "__main__":
    extensions = ["extra"] if "--extra" in sys.argv else ["tables", "toc"]
    with open(sys.argv[1], encoding="utf-8") as file:
        print(len(markdown.markdown(file.read(), extensions=extensions)))
