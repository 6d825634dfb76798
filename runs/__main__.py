"""``python -m ragas_judge.runs`` is ``ragas-judge``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
