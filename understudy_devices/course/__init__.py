# SPDX-License-Identifier: MIT
"""A course: assignments, variants for each student, the grader and the contest (docs/course.md)."""
