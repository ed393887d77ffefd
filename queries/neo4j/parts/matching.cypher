// summary: The names and synonyms of a node `n` that match; $1 to $3 in each query that has it.
// $1 STRING: The longest pattern.
// $2 LIST<STRING>: All patterns, as expressions of Java for the whole text.
// $3 LIST<STRING>: Types of the entities; null: any.
WHERE n.{id} IS :: STRING NOT NULL AND ($3 IS NULL OR any(type IN {types} WHERE type IN $3))
WITH n, {names} AS names
UNWIND [[head(names), false]] + [text IN tail(names) + {synonyms} | [text, true]] AS one
WITH n, one
WHERE one[0] =~ $1 AND all(pattern IN $2 WHERE one[0] =~ pattern)
WITH [n.{id}, left(one[0], 4000), one[1]] AS row
