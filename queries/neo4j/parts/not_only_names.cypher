// summary: A property with names that has something else, too; null where all of it are names.
CASE WHEN size({texts}) < size({values}) THEN n.{property} END
