"""Runs: folders of results that survive interruption, are continued by the same command, and can be merged.

A run knows no question: work is cut into units, and each leaves tables and tensors.
"""
