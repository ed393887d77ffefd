-- summary: The rows of the table of evidence about some edges.
-- $1 text[]: The keys of the edges.
-- $2 int: Bytes of one row at most, in all; larger ones are marked.
-- $3 bigint: Rows at most.
-- A key comes back as it was sent: the database may write it in another way. No table has a dot in its name.
-- OFFSET lets the size be computed once for each row.
SELECT "key.of.edge".text AS key, s.size > $2 AS is_too_large,
  CASE WHEN s.size <= $2 THEN v.properties::text END AS properties,
  CASE WHEN s.size <= $2 THEN v.columns::text END AS columns
FROM unnest($1::text[]) AS "key.of.edge"(text)
CROSS JOIN LATERAL (
  SELECT to_jsonb({properties}) AS properties, (SELECT to_jsonb(c) FROM (SELECT {columns}) AS c) AS columns
  FROM {table}
  WHERE {key} = "key.of.edge".text::{key_type}
) AS v
CROSS JOIN LATERAL (
  SELECT coalesce(length(v.properties::text), 0) + coalesce(length(v.columns::text), 0) AS size
  OFFSET 0
) AS s
LIMIT $3
