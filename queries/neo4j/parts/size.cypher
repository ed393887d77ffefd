// summary: About how many bytes the properties of something have.
reduce(total = 0, key IN keys({of}) | total + size(key) + CASE
  WHEN {of}[key] IS :: STRING NOT NULL THEN size({of}[key])
  WHEN {of}[key] IS :: LIST<STRING NOT NULL> NOT NULL THEN reduce(inner = 0, text IN {of}[key] | inner + size(text))
  WHEN {of}[key] IS :: LIST<ANY> NOT NULL THEN 16 * size({of}[key])
  ELSE 16
END)
