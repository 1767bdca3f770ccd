#!/usr/bin/env python3
"""Writes the manual page of the command, or its completion for a shell, on standard output.

Usage: command_pages.py TAMIS (man|bash|zsh)

Everything comes from the help of the command TAMIS, so the pages describe the command that they are built with.
"""
import dataclasses
import re
import subprocess
import sys


@dataclasses.dataclass
class Option:
    names: list[str]  # empty for a positional argument
    value: str        # the name of the value, or ""
    text: str
    choices: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Command:
    path: str
    summary: str
    usage: str
    parts: list = dataclasses.field(default_factory=list)  # (heading, options), or the lines of a paragraph
    commands: list = dataclasses.field(default_factory=list)

    def options(self):
        return [option for part in self.parts if isinstance(part, tuple) for option in part[1]]


def run(*arguments):
    return subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")


def choices(tamis, path, option):
    """Returns the values that an option accepts, from the error for another value. The unknown option keeps the
    command from running."""
    error = run(tamis, *path.split()[1:], option.names[-1], "?", "--no-such-option").stderr
    found = re.search(r"is not one of (.*?)(?:;| \(see|$)", error.split("\n")[0])
    return found[1].split(", ") if found else []


def options_of(tamis, path, lines):
    options = []
    for line in lines:
        if re.match(r"  \S", line):
            entry = re.match(r"  (\S+)(?: (\S+(?: \.\.\.)?))?(?:  +(\S.*)| *$)", line)
            names = entry[1].split(",") if entry[1].startswith("-") else []
            value = entry[2] or "" if names else f"{entry[1]} {entry[2] or ''}".strip()
            options.append(Option(names, value, entry[3] or ""))
        else:
            options[-1].text = f"{options[-1].text} {line.strip()}".strip()
    for option in options:
        if option.names and option.value:
            option.choices = choices(tamis, path, option)
    return options


def read(tamis, path="tamis"):
    answer = run(tamis, *path.split()[1:], "--help")
    if answer.returncode != 0:
        sys.exit(f"{path} --help failed: {answer.stderr}")
    summary, usage, rest = re.fullmatch(r"(.*?)\nUsage: (.*?)\n(.*)", answer.stdout, re.S).groups()
    command = Command(path, " ".join(summary.split()), usage)
    for block in re.split(r"\n{2,}", rest.strip("\n")):
        heading, *lines = block.split("\n")
        if heading == "Subcommands:":
            for line in lines:
                command.commands.append(read(tamis, f"{path} {line.split()[0]}"))
        elif heading == "Positionals:" or lines and lines[0].startswith("  -"):
            command.parts.append((heading, options_of(tamis, path, lines)))
        else:
            command.parts.append(block.split("\n"))
    return command


def every(command):
    yield command
    for lower in command.commands:
        yield from every(lower)


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return re.sub(r"^\.", r"\\&.", text.replace("^", "\\(ha").replace("~", "\\(ti"))


def man_parts(command, macro):
    """Yields the parts of the help. Headings such as "Exit status:" become sections, with this macro."""
    for part in command.parts:
        heading, lines = part if isinstance(part, tuple) else (part[0], part[1:])
        if re.fullmatch(r"[A-Z][a-z ]+:", heading):
            title = heading[:-1]
            yield f"{macro} {title.upper() if macro == '.SH' else title}"
        else:
            yield f".PP\n{roff(heading)}"
        if isinstance(part, tuple):
            yield from map(man_option, lines)
        else:
            yield from man_lines(lines)


def man_option(option):
    names = ", ".join(rf"\fB{roff(name)}\fR" for name in option.names)
    value = rf"\fI{roff(option.value)}\fR" if option.value else ""
    text = f"{option.text}; one of {', '.join(option.choices)}" if option.choices else option.text
    return f".TP\n{' '.join(filter(None, (names, value)))}\n{roff(text)}"


def man_lines(lines):
    """Yields lines of text, and keeps the layout of indented ones."""
    indented = False
    for line in lines:
        if line.startswith("  ") != indented:
            indented = not indented
            yield ".RS 2\n.EX" if indented else ".EE\n.RE"
        yield roff(line[2:] if indented else line)
    if indented:
        yield ".EE\n.RE"


def man(tamis, root):
    version = run(tamis, "--version").stdout.split("\n")[0]
    *_, about = re.split(r"[?:.] ", root.summary.partition(". ")[0])
    yield f'.TH TAMIS 1 "" "{roff(version)}" "User Commands"'
    yield f".SH NAME\ntamis \\- {roff(about[0].lower() + about[1:])}"
    yield f".SH SYNOPSIS\n.B tamis\n{roff(root.usage.removeprefix('tamis '))}"
    yield f".SH DESCRIPTION\n{roff(root.summary)}\n.SH COMMANDS"
    for command in list(every(root))[1:]:
        yield f".TP\n.B {roff(command.path)}\n{roff(command.summary)}"
    yield from man_parts(root, ".SH")
    for command in list(every(root))[1:]:
        yield f".SH {roff(command.path.upper())}\n.B {roff(command.usage)}\n.PP\n{roff(command.summary)}"
        yield from man_parts(command, ".SS")


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


# The last words of the command line decide what fits. If nothing is offered, bash completes names of files.
BASH = """\
# Completion of the command tamis for bash, made from its help.
_tamis() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local command=tamis commands= options= values= i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${COMP_WORDS[i]}" in
      %(paths)s) command+=" ${COMP_WORDS[i]}" ;;
    esac
  done
  case "$command $before" in
%(choices)s
  esac
  if [[ $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$word"))
    return
  fi
  case $command in
%(commands)s
  esac
  if [[ " $values " == *" $before "* ]]; then
    return
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  else
    COMPREPLY=($(compgen -W "$commands" -- "$word"))
  fi
}
complete -o default -F _tamis tamis"""


def bash(root):
    choices, cases = [], []
    for command in every(root):
        commands = " ".join(c.path.split()[-1] for c in command.commands)
        options = " ".join(name for option in command.options() for name in option.names)
        values = " ".join(name for option in command.options() if option.value for name in option.names)
        cases.append(f"    {quoted(command.path)})\n      commands={quoted(commands)}\n"
                     f"      options={quoted(options)}\n      values={quoted(values)} ;;")
        for option in command.options():
            if option.choices:
                names = " | ".join(quoted(f"{command.path} {name}") for name in option.names)
                choices.append(f"    {names})\n      values={quoted(' '.join(option.choices))} ;;")
    yield BASH % {"paths": " | ".join(quoted(c.path) for c in every(root) if c is not root),
                  "choices": "\n".join(choices), "commands": "\n".join(cases)}


def zsh_text(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text)


def zsh_option(option):
    value = ""
    if option.value:
        name = zsh_text(option.value.split()[0])
        is_file = not option.names or name in ("FILE", "FOLDER")
        action = f"({' '.join(option.choices)})" if option.choices else "_files" if is_file else " "
        value = f":{name}:{action}"
    if not option.names:
        return quoted(("*" if option.value.endswith("...") else "") + value)
    text = f"[{zsh_text(option.text)}]"
    if len(option.names) == 1:
        return quoted(f"{option.names[0]}{text}{value}")
    names = " ".join(option.names)
    return f"{quoted(f'({names})')}{{{','.join(option.names)}}}{quoted(f'{text}{value}')}"


def zsh(root):
    yield "#compdef tamis\n# Completion of the command tamis for zsh, made from its help."
    for command in every(root):
        arguments = [zsh_option(option) for option in command.options()]
        name = f"_{command.path.replace(' ', '_')}"
        yield f"{name}() {{"
        if command.commands:
            yield "  local -a commands=("
            yield from (f"    {quoted(zsh_text(c.path.split()[-1]) + ':' + c.summary)}" for c in command.commands)
            yield "  )\n  local line state"
            arguments += ["'1:command:->command'", "'*::argument:->arguments'"]
        yield "  _arguments -s " + " \\\n    ".join(arguments)
        if command.commands:
            yield f"  case $state in\n    command) _describe command commands ;;"
            yield f"    arguments) (( $+functions[{name}_$line[1]] )) && {name}_$line[1] ;;\n  esac"
        yield "}"
    yield '_tamis "$@"'


def main(tamis, kind):
    root = read(tamis)
    lines = {"man": lambda: man(tamis, root), "bash": lambda: bash(root), "zsh": lambda: zsh(root)}[kind]()
    print("\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in ("man", "bash", "zsh"):
        sys.exit("usage: command_pages.py TAMIS (man|bash|zsh)")
    main(*sys.argv[1:])
