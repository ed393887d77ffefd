// summary: Entities with a name or synonym that equals a text, in any case.
// $1 STRING: The text.
// $2 LIST<STRING>: Types of the entities; null: any.
// $3 INTEGER: Rows at most.
MATCH (n:{labels})
WHERE n.{id} IS :: STRING NOT NULL AND ($2 IS NULL OR any(type IN {types} WHERE type IN $2))
WITH n, {names} AS names
UNWIND [[head(names), false]] + [text IN tail(names) + {synonyms} | [text, true]] AS one
WITH n, one
WHERE toLower(one[0]) = toLower($1)
WITH [n.{id}, left(one[0], 4000), one[1]] AS row
LIMIT $3
{chunks}
