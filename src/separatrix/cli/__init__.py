"""The command ``separatrix``: it asks the library, shows the answers, and computes nothing itself."""

from separatrix.cli.app import main as main
