// summary: Some nodes, or all where there are no more.
// $1 INTEGER: Rows at most.
MATCH (n:{labels})
WHERE n.{id} IS :: STRING NOT NULL
WITH [n.{id}] AS row
LIMIT $1
{chunks}
