-- summary: The rows of the table of evidence about some edges.
-- $1 text[]: The keys of the edges.
-- $2 int: Bytes of one row at most; larger ones are marked.
-- $3 bigint: Rows at most.
-- A key comes back as it was sent: the database may write it in another way. No table has a dot in its name.
SELECT "key.of.edge".text AS key, length(v.properties::text) > $2 OR length(v.columns::text) > $2 AS is_too_large,
  CASE WHEN length(v.properties::text) <= $2 THEN v.properties::text END AS properties,
  CASE WHEN length(v.columns::text) <= $2 THEN v.columns::text END AS columns
FROM unnest($1::text[]) AS "key.of.edge"(text)
CROSS JOIN LATERAL (
  SELECT to_jsonb({properties}) AS properties, (SELECT to_jsonb(c) FROM (SELECT {columns}) AS c) AS columns
  FROM {table}
  WHERE {key} = "key.of.edge".text::{key_type}
) AS v
LIMIT $3
