-- summary: How the texts of a column begin, up to a colon and only where that can be an IRI, with how many do and one of them.
-- $1 bigint: Rows that are looked at, at most.
-- $2 bigint: Rows at most.
SELECT b.beginning, count(*) AS found, left(min(b.text COLLATE "C"), 300) AS example
FROM (
  SELECT t.text, CASE WHEN t.text ~ '^[^:\x01-\x20<>"{{}}|^`\\]+:[^\x01-\x20<>"{{}}|^`\\]*$'
    THEN left(split_part(t.text, ':', 1), 100) END AS beginning
  FROM (SELECT {column}::text AS text FROM {table} WHERE {column} IS NOT NULL LIMIT $1) AS t
) AS b
GROUP BY b.beginning
ORDER BY found DESC, b.beginning
LIMIT $2
