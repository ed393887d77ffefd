"""The explorer page: its build, its reader of answers, and the page in a real browser."""
