#!/bin/sh
# A page of 0.3 MB in an invented language with accents; the same on every machine.
exec env LC_ALL=C awk -v sections=300 '
function random(below) { seed = (seed * 16807) % 2147483647; return seed % below }
function text(count,   line) {
  for (line = words[random(1500)]; count > 1; count--) line = line " " words[random(1 + random(1500))]
  return line
}
BEGIN {
  seed = 20240722
  letters = split("e e e e e e t t t t a a a o o o i i i n n n s s s h h r r d l l u c m f w y p v é é è à ü ö ç", letter, " ")
  for (i = 0; i < 1500; i++)
    for (left = 2 + random(8); left > 0; left--) words[i] = words[i] letter[1 + random(letters)]
  print "<!DOCTYPE html><html><head><title>" text(4) "</title><style>p { margin: 0 }</style></head><body>"
  for (i = 0; i < sections; i++) {
    printf "<div class=\"%s\" id=i%d>\n<!-- %s --><h%d>%s</h%d>", text(1), i, text(5), 2 + i % 2, text(3), 2 + i % 2
    printf "<p title=\"%s\">%s <b>%s</b>, <a href=\"/%d\">%s</a> &amp; %s</p>", text(2), text(40), text(3), i, text(2), text(30)
    printf "<ul><li>%s<li><code>%s</code><li><img src=\"%d.png\" alt=\"%s\"></ul></div>\n", text(9), text(4), i, text(3)
  }
  print "</body></html>"
}' > bench/page.html
