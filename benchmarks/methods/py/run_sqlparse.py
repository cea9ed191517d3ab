"""sqlparse on a script of statements."""

import sys

import sqlparse

if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        statements = file.read()
    print(len(sqlparse.format(statements, keyword_case="upper", reindent="--reindent" in sys.argv)))
