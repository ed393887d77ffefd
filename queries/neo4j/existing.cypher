// summary: Which of some nodes there are.
// $1 LIST<STRING>: The nodes.
// $2 BOOLEAN: Whether the ends of edges are asked for, too; each is a node.
// $3 INTEGER: Rows at most.
UNWIND $1 AS id
MATCH (n:{labels} {{{id}: id}})
WHERE $2 IS NOT NULL
WITH DISTINCT [id] AS row
LIMIT $3
{chunks}
