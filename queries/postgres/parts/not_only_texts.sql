-- summary: A column that has something else than these texts, too; null where all of it are texts, none of them blank.
CASE WHEN jsonb_path_exists(to_jsonb({column}), '$[*][*] ? (
  @.type() == "array" || @ like_regex "^\\s*$" || @.type() == "object" && !exists(@."@value" ? (@.type() == "string"))
)') THEN to_jsonb({column}) END
