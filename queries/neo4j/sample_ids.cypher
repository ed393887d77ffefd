// summary: How many of some nodes have an ID, and how many of these IDs are texts.
// $1 INTEGER: Nodes with an ID that are looked at, at most.
// $2 INTEGER: Rows at most.
MATCH (n:{labels})
WHERE n.{id} IS NOT NULL
WITH n
LIMIT $1
WITH [count(*), count(CASE WHEN n.{id} IS :: STRING NOT NULL THEN 1 END)] AS row
LIMIT $2
{chunks}
