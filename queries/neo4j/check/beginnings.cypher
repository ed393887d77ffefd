// summary: How the IDs begin, up to a colon and only where that can be an IRI, with how many do and one of them.
// $1 INTEGER: Nodes that are looked at, at most.
// $2 INTEGER: Rows at most.
MATCH (n:{labels})
WHERE n.{id} IS :: STRING NOT NULL
WITH n.{id} AS text
LIMIT $1
WITH text, CASE WHEN text =~ '[^:\\x00-\\x20<>"{{}}|^`\\\\]+:[^\\x00-\\x20<>"{{}}|^`\\\\]*'
  THEN left(split(text, ':')[0], 100) END AS beginning
WITH beginning, count(*) AS found, left(min(text), 300) AS example
ORDER BY found DESC, beginning
LIMIT $2
WITH [beginning, found, example] AS row
{chunks}
