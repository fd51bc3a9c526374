"""``python -m separatrix.cli``, where the command itself is not on the path."""

import sys

from separatrix.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
