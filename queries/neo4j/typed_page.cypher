// summary: The nodes of some types that come after an ID, in order.
// $1 LIST<STRING>: The types.
// $2 STRING: The ID; null: the first page.
// $3 INTEGER: Rows at most.
MATCH (n:{labels})
WHERE (n.{id} > coalesce($2, '') OR $2 IS NULL AND n.{id} = '') AND any(type IN {types} WHERE type IN $1)
WITH DISTINCT n.{id} AS id
ORDER BY id
LIMIT $3
WITH [id] AS row
{chunks}
