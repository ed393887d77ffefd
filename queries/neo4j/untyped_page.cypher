// summary: The nodes without a type that come after an ID, in order.
// $1 STRING: The ID; null: the first page.
// $2 INTEGER: Rows at most.
// Each with false: no other text than its ID has its IRI, but for CURIEs. Several nodes may have one ID: their types are those of one node.
MATCH (n:{labels})
WHERE n.{id} > coalesce($1, '') OR $1 IS NULL AND n.{id} = ''
WITH n.{id} AS id, sum(size({types})) AS found
WHERE found = 0
WITH id
ORDER BY id
LIMIT $2
WITH [id, false] AS row
{chunks}
