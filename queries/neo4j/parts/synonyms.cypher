// summary: The further names of a node `n`.
CASE
  WHEN n.{synonyms} IS :: LIST<STRING NOT NULL> NOT NULL THEN n.{synonyms}
  WHEN n.{synonyms} IS :: STRING NOT NULL THEN [n.{synonyms}]
  ELSE []
END
