-- summary: The nodes whose properties have objects with some IDs, at any depth.
-- $1 text[]: The IDs.
-- $2 bigint: Rows at most.
-- Texts are looked at first: most properties have no ID in them.
SELECT DISTINCT n.id AS n
FROM {nodes} AS n
WHERE (position('"@id"' IN n.properties::text) > 0 OR position('"@id"' IN n.columns::text) > 0)
  AND jsonb_path_exists(
    jsonb_build_array(n.properties, n.columns),
    '$.** ? (@."@id" == $ids[*])',
    jsonb_build_object('ids', to_jsonb($1::text[]))
  )
LIMIT $2
