// summary: Some of the entities of some types.
// $1 LIST<STRING>: The types.
// $2 INTEGER: Rows at most.
MATCH (n:{labels})
WHERE n.{id} IS :: STRING NOT NULL AND any(type IN {types} WHERE type IN $1)
WITH [n.{id}] AS row
LIMIT $2
{chunks}
