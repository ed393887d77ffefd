// summary: Some nodes `n` of one label; $2 in the query that has it.
// $2 INTEGER: Nodes at most.
MATCH (n:{label})
WHERE n.{id} IS :: STRING NOT NULL
RETURN n LIMIT $2
