# SPDX-License-Identifier: MIT
"""A run as a trace in Perfetto's format, for ui.perfetto.dev and trace_processor."""
