// summary: Types and names of some nodes, and their properties on request.
// $1 LIST<STRING>: The nodes.
// $2 BOOLEAN: Whether to read the properties, too.
// $3 INTEGER: Bytes of the properties of one node at most, about; larger ones are marked.
// $4 INTEGER: Rows at most.
UNWIND $1 AS id
MATCH (n:{labels} {{{id}: id}})
WITH id, n, {names} AS names, CASE WHEN $2 THEN {size_of_n} ELSE 0 END AS size
LIMIT $4
WITH id, n, names, size, $2 AND size <= $3 AS is_read
WITH [
  id, {types}, CASE WHEN is_read THEN head(names) ELSE left(head(names), 4000) END, size > $3,
  CASE WHEN is_read THEN {json_of_n} END,
  CASE WHEN is_read THEN tail(names) + {synonyms} END,
  CASE WHEN is_read THEN n {{.*{without_of_n}}} END
] AS row
{chunks}
