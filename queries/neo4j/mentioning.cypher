// summary: Nodes whose JSON may have objects with some IDs: it has their text, or characters that are written in another way.
// $1 LIST<STRING>: The IDs.
// $2 INTEGER: Rows at most.
MATCH (n:{labels})
WHERE n.{id} IS :: STRING NOT NULL AND {json_of_n} IS :: STRING NOT NULL
  AND ({json_of_n} CONTAINS '\\' OR {json_of_n} CONTAINS '@id' AND any(id IN $1 WHERE {json_of_n} CONTAINS id))
WITH DISTINCT [n.{id}] AS row
LIMIT $2
{chunks}
