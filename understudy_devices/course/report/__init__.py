# SPDX-License-Identifier: MIT
"""Reports about grades: for a student (text, Markdown, HTML), for a class (CSV, JUnit XML), and for
Gradescope."""
