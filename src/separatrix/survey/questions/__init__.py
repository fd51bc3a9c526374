"""The questions of a survey, one module each."""
