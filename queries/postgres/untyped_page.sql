-- summary: The nodes without a type that come after an ID, in order: also ends of edges that are no row.
-- $1 text: The ID; null: the first page.
-- $2 bigint: Rows at most.
-- Each with whether a row with a type may write its IRI in or without brackets.
SELECT x.id AS n, EXISTS (
  SELECT FROM {nodes} AS t
  WHERE t.id IN ('<' || x.id || '>', CASE WHEN x.id LIKE '<%>' THEN substr(x.id, 2, length(x.id) - 2) END)
) AS is_doubtful
FROM (
  SELECT n.id FROM {nodes} AS n UNION SELECT e.s FROM {edges} AS e UNION SELECT e.o FROM {edges} AS e
) AS x
WHERE ($1::text IS NULL OR x.id > $1) AND NOT EXISTS (
  SELECT FROM {nodes} AS t WHERE t.id = x.id AND jsonb_path_exists(
    jsonb_build_array(t.type, t.properties -> '@type'), '$[*][*] ? (@.type() == "string")'
  )
)
ORDER BY n
LIMIT $2
