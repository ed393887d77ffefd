// summary: How many relationships there are between nodes that are read.
// $1 INTEGER: Relationships that are counted at most.
// $2 INTEGER: Rows at most.
MATCH (s:{labels})-[r]->(o:{labels})
WHERE s.{id} IS :: STRING NOT NULL AND o.{id} IS :: STRING NOT NULL
WITH r
LIMIT $1
WITH [count(*)] AS row
LIMIT $2
{chunks}
