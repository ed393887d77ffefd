-- summary: How many nodes each type has, the most frequent first.
-- $1 bigint: Rows at most.
SELECT t.type, count(DISTINCT n.id) AS found
FROM {nodes} AS n
CROSS JOIN LATERAL (
  SELECT DISTINCT v #>> '{{}}' AS type
  FROM jsonb_path_query(jsonb_build_array(n.type, n.properties -> '@type'), '$[*][*] ? (@.type() == "string")') AS v
) AS t
GROUP BY t.type
ORDER BY found DESC
LIMIT $1
