# SPDX-License-Identifier: MIT
"""`python -m understudy` is the `understudy` command."""

from understudy.cli.main import main

if __name__ == "__main__":
    main()
