-- summary: The types of some nodes, with how many of these have them, the most frequent first.
-- $1 bigint: Nodes that are looked at, at most.
-- $2 bigint: Rows at most.
SELECT t.type, count(*) AS found
FROM (SELECT * FROM {nodes} AS x LIMIT $1) AS n
CROSS JOIN LATERAL (
  SELECT DISTINCT v #>> '{{}}' AS type
  FROM jsonb_path_query(jsonb_build_array(n.type, n.properties -> '@type'), '$[*][*] ? (@.type() == "string")') AS v
) AS t
GROUP BY t.type
ORDER BY found DESC
LIMIT $2
