// summary: The types of some nodes, with how many of these have them, the most frequent first.
// $1 INTEGER: Nodes that are looked at, at most.
// $2 INTEGER: Rows at most.
MATCH (n:{labels})
WHERE n.{id} IS :: STRING NOT NULL
WITH n
LIMIT $1
UNWIND {types} AS type
WITH type, count(*) AS found
ORDER BY found DESC
LIMIT $2
WITH [type, found] AS row
{chunks}
