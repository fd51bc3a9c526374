"""Surveys: hand over a model and data, get the whole picture."""
