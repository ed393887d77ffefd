"""Blank nodes of an endpoint: the engine's keys or walks from nodes with an IRI, behind one joint."""
