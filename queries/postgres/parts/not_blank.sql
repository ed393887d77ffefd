-- summary: The texts of a JSON list of texts and numbers that are not blank.
jsonb_path_query_array({texts}, '$[*] ? (@.type() != "string" || @ like_regex "\\S")')
