"""Reads the files that tamis-bench writes, compares them, and makes a page or Markdown of them."""
