"""The flags of each command, read from its help, so that new flags are tried automatically."""

import re
import subprocess

import hostile

FLAG = re.compile(r"^  (?:-\w,)?(--[\w-]+)(?: (\S+))?\s*(.*)$")  # a toggle has no value behind one space


class Flag:
    def __init__(self, name, value, words):
        self.name, self.value, self.words = name, value, words

    def choices(self):
        """Returns the values that the help names, or an empty list."""
        if self.value and "|" in self.value:
            return self.value.split("|")
        listed = re.search(r"(?:one of|One of|Some of) ([a-z0-9.-]+(?:, [a-z0-9.-]+)+)", self.words)
        return listed.group(1).split(", ") if listed else []


class Command:
    """A command: its words, positionals ("[PLAN]" is optional), flags, and required flags."""

    def __init__(self, name, text):
        self.name = name
        usage = re.search(r"^Usage: stowage (.*)$", text, re.MULTILINE).group(1).split()[len(name):]
        self.positionals, self.required, self.flags = [], [], {}
        skip = False
        for word in usage:
            if skip:
                skip = False
            elif word.startswith("-"):
                self.required.append({"-o": "--output"}.get(word, word))
                skip = True
            elif word.startswith("[-"):
                skip = True
            else:
                self.positionals.append(word)
        current = None
        for line in text.splitlines():
            found = FLAG.match(line)
            if found:
                current = Flag(*found.groups())
                self.flags[current.name] = current
            elif current and line.startswith(" " * 20):
                current.words += " " + line.strip()
        for name in ("--help", "--version"):
            self.flags.pop(name, None)


def commands(stowage):
    """Returns all commands by their words."""
    def help_of(words):
        return subprocess.run([stowage, *words, "--help"], capture_output=True, text=True, check=True).stdout

    listed = re.search(r"^Commands:\n(.*?)\n\n", help_of(()), re.MULTILINE | re.DOTALL).group(1)
    names = [tuple(re.split(r"  +", line.strip())[0].split()) for line in listed.splitlines()]
    return {name: Command(name, help_of(name)) for name in names}


def value(flag, draw, names):
    """Returns a value for a flag: usually a plausible one, otherwise an extreme number or a hostile
    text."""
    kind = draw.random()
    choices = flag.choices()
    if kind < 0.1:
        return draw.choice([text for text in hostile.TEXTS.values()
                            if "\0" not in text and len(text) < 1000 and text.isprintable() | (draw.random() < 0.7)
                            and not any(0xd800 <= ord(letter) < 0xe000 for letter in text)])
    if choices:
        return draw.choice(choices)
    if flag.name.endswith("-limit") and flag.value == "SEC":
        return draw.choice(("0", "0.01", "0.1", "0.3", "-1", "nan", "1e-320", "1e400"))
    if flag.value in names and kind < 0.8:
        return draw.choice(names[flag.value])
    if kind < 0.3:
        return draw.choice(hostile.NUMBERS + hostile.WORDS_FOR_NUMBERS)
    return draw.choice(("0", "1", "2", "3", "4", "5", "8", "16", "64", "100", "1000", "0.5", "0.01"))
