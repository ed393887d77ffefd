// summary: How many nodes each type has, the most frequent first.
// $1 INTEGER: Rows at most.
MATCH (n:{labels})
WHERE n.{id} IS :: STRING NOT NULL
UNWIND {types} AS type
WITH type, count(DISTINCT n.{id}) AS found
ORDER BY found DESC
LIMIT $1
WITH [type, found] AS row
{chunks}
