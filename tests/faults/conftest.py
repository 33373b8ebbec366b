"""Where the tests of this folder keep their files."""

from devkit.temporary import keep_temporary_files_in_memory

keep_temporary_files_in_memory()
