// summary: Values of a node as texts, without those that are blank.
[text IN [value IN {values} | toStringOrNull(value)] WHERE text =~ '(?sU)\\s*\\S.*']
