// summary: A null, for any key, where the JSON of a node has an object in it; Neo4j reads no JSON.
// $1 INTEGER: Rows at most.
MATCH (n:{labels})
WHERE n.{id} IS :: STRING NOT NULL AND {json_of_n} IS :: STRING NOT NULL AND substring({json_of_n}, 1) CONTAINS '{{'
WITH n
LIMIT 1
WITH [null] AS row
LIMIT $1
{chunks}
