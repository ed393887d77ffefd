// summary: Texts of some nodes of each label, by property.
// $1 LIST<STRING>: Properties that are not read.
// $2 INTEGER: Nodes of a label that are looked at, at most.
// $3 INTEGER: Rows at most.
CALL () {{
  {some_nodes}
}}
WITH DISTINCT n
UNWIND [key IN keys(n) WHERE NOT key IN $1] AS key
WITH n.{id} AS id, key, CASE
  WHEN n[key] IS :: STRING NOT NULL THEN n[key]
  WHEN n[key] IS :: LIST<STRING NOT NULL> NOT NULL THEN head(n[key])
END AS text
WHERE text IS NOT NULL
WITH [id, key, left(text, 200)] AS row
LIMIT $3
{chunks}
