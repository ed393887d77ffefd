// summary: How many nodes there are, and of these how many have an ID, one that is a text, and how many such texts there are.
// $1 INTEGER: Nodes that are counted at most.
// $2 INTEGER: Rows at most.
MATCH (n:{labels})
WITH n.{id} AS id
LIMIT $1
WITH id, CASE WHEN id IS :: STRING NOT NULL THEN id END AS text
WITH [count(*), count(id), count(text), count(DISTINCT text)] AS row
LIMIT $2
{chunks}
