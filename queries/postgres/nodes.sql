-- summary: Types and names of some nodes, and their properties on request.
-- $1 text[]: The nodes.
-- $2 boolean: Whether to read the properties, too.
-- $3 int: Bytes of the properties, the synonyms and the other columns of one node at most; larger ones are marked.
-- $4 bigint: Rows at most.
SELECT n.id AS n, jsonb_build_array(n.type, n.properties -> '@type')::text AS types, left(n.name, 4000) AS name,
  $2::boolean AND greatest(length(n.properties::text), length(n.synonyms::text), length(n.columns::text)) > $3
    AS is_too_large,
  CASE WHEN $2::boolean AND length(n.properties::text) <= $3 THEN n.properties::text END AS properties,
  CASE WHEN $2::boolean AND length(n.synonyms::text) <= $3 THEN n.synonyms::text END AS synonyms,
  CASE WHEN $2::boolean AND length(n.columns::text) <= $3 THEN n.columns::text END AS columns
FROM {nodes} AS n WHERE n.id = ANY ($1::text[])
LIMIT $4
