"""`coordrooms install` and `uninstall`: a host is told of the tools, the hooks and the skill.

plans           all files of one host, edited in memory
insertions      putting pieces in           removals    taking them out again
jsonc           JSON edited where it stands toml_tables one table of a TOML file
records         what has to be remembered   ours        telling ours from theirs
transactions    all files written, or none
"""
