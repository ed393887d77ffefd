-- summary: Types and names of some nodes, and their properties on request.
-- $1 text[]: The nodes.
-- $2 boolean: Whether to read the properties, too.
-- $3 int: Bytes of the name, the properties, the synonyms and the other columns of one node at most, together; larger ones
-- are marked.
-- $4 bigint: Rows at most.
-- OFFSET lets the size be computed once for each row.
SELECT n.id AS n, jsonb_build_array(n.type, n.properties -> '@type')::text AS types,
  CASE WHEN $2::boolean AND s.size <= $3 THEN n.name ELSE left(n.name, 4000) END AS name, s.size > $3 AS is_too_large,
  CASE WHEN $2::boolean AND s.size <= $3 THEN n.properties::text END AS properties,
  CASE WHEN $2::boolean AND s.size <= $3 THEN n.synonyms::text END AS synonyms,
  CASE WHEN $2::boolean AND s.size <= $3 THEN n.columns::text END AS columns
FROM {nodes} AS n
CROSS JOIN LATERAL (
  SELECT CASE WHEN $2::boolean THEN
    coalesce(length(n.name), 0) + coalesce(length(n.properties::text), 0) + coalesce(length(n.synonyms::text), 0)
      + coalesce(length(n.columns::text), 0)
  ELSE 0 END AS size
  OFFSET 0
) AS s
WHERE n.id = ANY ($1::text[])
LIMIT $4
