#!/bin/sh
# 8 MB of phrases of an invented language, few of them often and many rarely; the same on every machine.
exec awk -v bytes=8000000 '
function random(below) { seed = (seed * 16807) % 2147483647; return seed % below }
function some(count) { return random(1 + random(1 + random(count))) }
BEGIN {
  seed = 20240722
  letters = "eeeeeeeetttttaaaaaooooiiiinnnnsssshhhrrrddlluucmfwypvbgkqjxz"
  for (i = 0; i < 8000; i++)
    for (left = 2 + random(8); left > 0; left--) words[i] = words[i] substr(letters, 1 + random(60), 1)
  for (i = 0; i < 20000; i++)
    for (left = 2 + random(5); left > 0; left--) phrases[i] = phrases[i] words[some(8000)] " "
  while (bytes > 0) {
    line = phrases[some(20000)] phrases[some(20000)] words[some(8000)]
    print line
    bytes -= length(line) + 1
  }
}' > bench/text.txt
