"""Blank nodes and lists of files, judged by an oracle of their own, over drawn graphs and real files."""
